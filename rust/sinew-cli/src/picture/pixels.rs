//! Pixels of any encoding.

use image::RgbImage;

use crate::output::shown;

/// A picture as it is in a message.
pub struct Raw<'a> {
    /// In pixels.
    pub width: u64,
    /// In pixels.
    pub height: u64,
    /// Bytes from one row to the next; 0: there is nothing between.
    pub step: u64,
    /// Numbers of more than a byte have the most significant one first.
    pub is_bigendian: bool,
    /// As in sensor_msgs/image_encodings.
    pub encoding: &'a str,
    /// Row by row.
    pub data: &'a [u8],
}

#[derive(Clone, Copy)]
enum Encoding {
    /// Bytes of a pixel, and which of them are red, green and blue.
    Color(u64, [usize; 3]),
    Gray,
    Gray16,
    Float,
    /// Which of four bytes, for two pixels, are both of Y, and U and V.
    Yuv([usize; 2], [usize; 2]),
}

const NAMES: &str = "rgb8, bgr8, rgba8, bgra8, mono8, mono16, 8UC1, 8UC3, 16UC1, 32FC1, yuv422, yuv422_yuy2 and bayer_...8 are";

impl Encoding {
    fn of(name: &str) -> Option<Encoding> {
        Some(match name {
            "rgb8" => Encoding::Color(3, [0, 1, 2]),
            "bgr8" | "8UC3" => Encoding::Color(3, [2, 1, 0]),
            "rgba8" => Encoding::Color(4, [0, 1, 2]),
            "bgra8" => Encoding::Color(4, [2, 1, 0]),
            "mono8" | "8UC1" | "bayer_rggb8" | "bayer_bggr8" | "bayer_gbrg8" | "bayer_grbg8" => Encoding::Gray,
            "mono16" | "16UC1" => Encoding::Gray16,
            "32FC1" => Encoding::Float,
            "yuv422" | "uyvy" => Encoding::Yuv([1, 3], [0, 2]),
            "yuv422_yuy2" | "yuyv" => Encoding::Yuv([0, 2], [1, 3]),
            _ => return None,
        })
    }

    fn bytes(self) -> u64 {
        match self {
            Encoding::Color(bytes, _) => bytes,
            Encoding::Gray => 1,
            Encoding::Gray16 | Encoding::Yuv(..) => 2,
            Encoding::Float => 4,
        }
    }
}

impl Raw<'_> {
    /// What it looks like: depths and 16 bits of gray from black for the least to white for the greatest. The sentence says what is wrong with it.
    pub fn to_rgb(&self) -> Result<RgbImage, String> {
        let name = shown(self.encoding);
        let encoding = Encoding::of(self.encoding).ok_or_else(|| format!("'{name}' is no encoding that can be drawn: {NAMES}"))?;
        let (width, height) = (u32::try_from(self.width).unwrap_or(0), u32::try_from(self.height).unwrap_or(0));
        if width == 0 || height == 0 || matches!(encoding, Encoding::Yuv(..)) && width % 2 == 1 {
            return Err(format!("no picture of {name} has {} x {} pixels", self.width, self.height));
        }
        let row = u64::from(width) * encoding.bytes();
        let step = if self.step == 0 { row } else { self.step };
        if step < row {
            return Err(format!("its step is {step}, and a row of {width} pixels of {name} takes {row} bytes"));
        }
        let needed = step.checked_mul(u64::from(height) - 1).and_then(|before| before.checked_add(row));
        if needed.is_none_or(|needed| needed > self.data.len() as u64) {
            return Err(format!("{width} x {height} pixels of {name} do not fit into {} bytes", self.data.len()));
        }
        // From here on all of it is in the data, and so is the memory that is taken for it bounded by that.
        let rows = self.data.chunks(step as usize).take(height as usize).map(|bytes| &bytes[..row as usize]);
        let pixels = match encoding {
            Encoding::Color(bytes, order) => {
                rows.flat_map(|row| row.chunks_exact(bytes as usize)).flat_map(|pixel| order.map(|at| pixel[at])).collect()
            }
            Encoding::Gray => rows.flatten().flat_map(|gray| [*gray; 3]).collect(),
            Encoding::Gray16 => {
                gray(rows.flat_map(|row| row.as_chunks().0).map(|bytes| f32::from(self.number(*bytes, u16::from_ne_bytes))))
            }
            Encoding::Float => gray(rows.flat_map(|row| row.as_chunks().0).map(|bytes| self.number(*bytes, f32::from_ne_bytes))),
            Encoding::Yuv(y, uv) => rows.flat_map(|row| row.as_chunks::<4>().0).flat_map(|two| rgb_of(two, y, uv)).collect(),
        };
        RgbImage::from_raw(width, height, pixels).ok_or_else(|| "it has other pixels than it says".to_owned())
    }

    fn number<const SIZE: usize, T>(&self, mut bytes: [u8; SIZE], of: fn([u8; SIZE]) -> T) -> T {
        if self.is_bigendian != cfg!(target_endian = "big") {
            bytes.reverse();
        }
        of(bytes)
    }
}

/// From black for the least to white for the greatest. Zero, and what is no number, is nothing that was measured: black, and not counted.
pub fn gray(values: impl Iterator<Item = f32>) -> Vec<u8> {
    let values: Vec<f32> = values.collect();
    let measured = values.iter().filter(|value| value.is_finite() && **value != 0.0);
    let (least, greatest) =
        measured.fold((f32::INFINITY, f32::NEG_INFINITY), |(least, greatest), value| (least.min(*value), greatest.max(*value)));
    let range = if greatest > least { greatest - least } else { 1.0 };
    let shade = |value: &f32| if *value == 0.0 { 0 } else { (255.0 * (value - least) / range) as u8 };
    values.iter().flat_map(|value| [shade(value); 3]).collect()
}

/// Two pixels as ITU-R BT.601 has them.
fn rgb_of(bytes: &[u8; 4], y: [usize; 2], [u, v]: [usize; 2]) -> [u8; 6] {
    let (u, v) = (f32::from(bytes[u]) - 128.0, f32::from(bytes[v]) - 128.0);
    let pixel = |y: u8| {
        let y = 1.164 * (f32::from(y) - 16.0);
        [y + 1.596 * v, y - 0.392 * u - 0.813 * v, y + 2.017 * u].map(|value| value.round() as u8) // which keeps it within a byte
    };
    let [first, second] = y.map(|at| pixel(bytes[at]));
    [first[0], first[1], first[2], second[0], second[1], second[2]]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw<'a>(width: u64, height: u64, encoding: &'a str, data: &'a [u8]) -> Raw<'a> {
        Raw { width, height, step: 0, is_bigendian: false, encoding, data }
    }

    /// Of a picture of one row.
    fn pixels(encoding: &str, data: &[u8]) -> Vec<[u8; 3]> {
        let width = data.len() as u64 / Encoding::of(encoding).unwrap().bytes();
        raw(width, 1, encoding, data).to_rgb().unwrap().pixels().map(|pixel| pixel.0).collect()
    }

    fn complaint(raw: &Raw<'_>) -> String {
        raw.to_rgb().unwrap_err()
    }

    #[test]
    fn pixels_of_each_encoding_have_their_colours() {
        assert_eq!(pixels("rgb8", &[1, 2, 3, 4, 5, 6]), [[1, 2, 3], [4, 5, 6]]);
        assert_eq!(pixels("bgr8", &[1, 2, 3]), [[3, 2, 1]]);
        assert_eq!(pixels("8UC3", &[1, 2, 3]), [[3, 2, 1]]);
        assert_eq!(pixels("rgba8", &[1, 2, 3, 9, 4, 5, 6, 9]), [[1, 2, 3], [4, 5, 6]]);
        assert_eq!(pixels("bgra8", &[1, 2, 3, 9]), [[3, 2, 1]]);
        for gray in ["mono8", "8UC1", "bayer_rggb8", "bayer_grbg8"] {
            assert_eq!(pixels(gray, &[7, 255]), [[7; 3], [255; 3]], "{gray}");
        }
        // Of Y, U and V: black, white, and the red and the blue of BT.601.
        assert_eq!(pixels("yuv422", &[128, 16, 128, 235]), [[0; 3], [255; 3]]);
        assert_eq!(pixels("yuv422_yuy2", &[16, 128, 235, 128]), [[0; 3], [255; 3]]);
        assert_eq!(pixels("yuv422", &[90, 82, 240, 82]), [[255, 1, 0]; 2]);
        assert_eq!(pixels("yuyv", &[41, 240, 41, 110]), [[0, 0, 255]; 2]);
    }

    #[test]
    fn depths_go_from_black_to_white_and_what_was_not_measured_is_black() {
        let millimetres: Vec<u8> = [0_u16, 1000, 1500, 2000].into_iter().flat_map(u16::to_le_bytes).collect();
        assert_eq!(pixels("16UC1", &millimetres), [[0; 3], [0; 3], [127; 3], [255; 3]]);
        let metres: Vec<u8> = [f32::NAN, -1.0, f32::INFINITY, 3.0, 1.0].into_iter().flat_map(f32::to_le_bytes).collect();
        assert_eq!(pixels("32FC1", &metres), [[0; 3], [0; 3], [255; 3], [255; 3], [127; 3]]);
        let swapped: Vec<u8> = [100_u16, 300].into_iter().flat_map(u16::to_be_bytes).collect();
        let swapped = Raw { is_bigendian: true, ..raw(2, 1, "mono16", &swapped) }.to_rgb().unwrap();
        assert_eq!(swapped.into_raw(), [0, 0, 0, 255, 255, 255]);
        assert_eq!(pixels("16UC1", &[5, 0, 5, 0]), [[0; 3]; 2], "all are the same");
    }

    #[test]
    fn what_is_between_rows_is_passed_over() {
        let rows = Raw { step: 5, ..raw(1, 2, "rgb8", &[1, 2, 3, 0, 0, 4, 5, 6]) }.to_rgb().unwrap();
        assert_eq!(rows.into_raw(), [1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn sizes_that_do_not_fit_the_data_are_refused_before_memory_is_taken() {
        assert_eq!(complaint(&raw(2, 2, "rgb8", &[0; 11])), "2 x 2 pixels of rgb8 do not fit into 11 bytes");
        assert_eq!(complaint(&Raw { step: 5, ..raw(2, 1, "rgb8", &[0; 6]) }), "its step is 5, and a row of 2 pixels of rgb8 takes 6 bytes");
        let most = u64::from(u32::MAX);
        for (width, height, step) in
            [(most, most, 0), (most, 1, 0), (1, most, 0), (1, 2, u64::MAX), (1, most, u64::MAX), (most, 2, u64::MAX)]
        {
            assert!(
                complaint(&Raw { step, ..raw(width, height, "32FC1", &[0; 64]) }).contains("do not fit into 64 bytes"),
                "{width} {height}"
            );
        }
        for (width, height) in [(0, 1), (1, 0), (1 << 32, 1), (1, u64::MAX)] {
            assert!(complaint(&raw(width, height, "mono8", &[0; 64])).starts_with("no picture of mono8 has "), "{width} {height}");
        }
        assert_eq!(complaint(&raw(3, 1, "yuv422", &[0; 6])), "no picture of yuv422 has 3 x 1 pixels");
        assert!(complaint(&raw(1, 1, "\u{1b}[2J", &[0; 6])).starts_with("'\u{fffd}[2J' is no encoding that can be drawn: rgb8, "));
    }
}
