//! Pictures in messages: as sensor_msgs/Image has them, or as files of JPEG or PNG, as sensor_msgs/CompressedImage has them.

mod pixels;
mod screen;

use std::io::Cursor;

use image::{DynamicImage, ImageReader, RgbImage};
use sinew::msg::stream::{Malformed, Reader};
use sinew::msg::{Number, Structure, Type};

use crate::output::shown;
use pixels::{Raw, gray};

pub use screen::Screen;

/// What a field is to a picture.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Width,
    Height,
    Step,
    IsBigEndian,
    Encoding,
    Format,
    Data,
}

impl Role {
    fn of(field: &str) -> Option<Role> {
        Some(match field {
            "width" => Role::Width,
            "height" => Role::Height,
            "step" => Role::Step,
            "is_bigendian" => Role::IsBigEndian,
            "encoding" => Role::Encoding,
            "format" => Role::Format,
            "data" | "pixels" => Role::Data,
            _ => return None,
        })
    }

    /// What such a field holds.
    fn expected(self) -> &'static str {
        match self {
            Role::Width | Role::Height | Role::Step | Role::IsBigEndian => "an integer",
            Role::Encoding | Role::Format => "a string",
            Role::Data => "uint8[]",
        }
    }

    fn fits(self, ty: &Type) -> bool {
        match (self, ty) {
            (Role::IsBigEndian, Type::Number(Number::Bool)) => true,
            (Role::Width | Role::Height | Role::Step | Role::IsBigEndian, Type::Number(number)) => number.is_integer(),
            (Role::Encoding | Role::Format, Type::String) => true,
            (Role::Data, Type::Vector(element) | Type::Array(element, _)) => **element == Type::Number(Number::Uint8),
            _ => false,
        }
    }
}

/// A type whose messages are pictures.
pub struct Pictures {
    structure: Structure,
    roles: Vec<Option<Role>>,
    is_file: bool,
}

/// What is read of a message.
#[derive(Default)]
struct Fields<'a> {
    numbers: [Option<u64>; 4],
    text: String,
    data: std::borrow::Cow<'a, [u8]>,
}

impl Pictures {
    /// Of this type. Where its messages are none, the sentence says what they lack.
    pub fn of(ty: &Type) -> Result<Pictures, String> {
        let no_picture = |why: &str| format!("{} is no picture: {why}", shown(&ty.name()));
        let Type::Structure(structure) = ty else {
            return Err(no_picture("pictures have the fields width, height, encoding and data, or format and data"));
        };
        let roles: Vec<_> = structure.fields.iter().map(|field| Role::of(&field.name)).collect();
        for (field, role) in structure.fields.iter().zip(&roles) {
            if let Some(role) = role.filter(|role| !role.fits(&field.ty)) {
                let (name, given) = (shown(&field.name), shown(&field.ty.name()));
                return Err(no_picture(&format!("its field '{name}' is {given}, and {} is expected", role.expected())));
            }
        }
        let lacks = |wanted: &[(Role, &'static str)]| -> Vec<&'static str> {
            wanted.iter().filter(|(role, _)| !roles.contains(&Some(*role))).map(|(_, name)| *name).collect()
        };
        let is_file = lacks(&[(Role::Format, "format"), (Role::Data, "data")]).is_empty() && !roles.contains(&Some(Role::Encoding));
        let missing = lacks(&[(Role::Width, "width"), (Role::Height, "height"), (Role::Encoding, "encoding"), (Role::Data, "data")]);
        if !is_file && !missing.is_empty() {
            return Err(no_picture(&format!("it lacks {}", missing.join(", "))));
        }
        Ok(Pictures { structure: structure.clone(), roles, is_file })
    }

    /// That of the message whose begin the reader is at. The sentence says why it cannot be drawn.
    pub fn read(&self, reader: &mut Reader<'_>) -> Result<RgbImage, String> {
        let fields = self.fields(reader).map_err(|why| why.to_string())?;
        if self.is_file {
            return decoded(&fields.text, &fields.data);
        }
        let [width, height, step, is_bigendian] = fields.numbers;
        let raw = Raw {
            width: width.unwrap_or(0),
            height: height.unwrap_or(0),
            step: step.unwrap_or(0),
            is_bigendian: is_bigendian.unwrap_or(0) != 0,
            encoding: &fields.text,
            data: &fields.data,
        };
        raw.to_rgb()
    }

    fn fields<'a>(&self, reader: &mut Reader<'a>) -> Result<Fields<'a>, Malformed> {
        let mut fields = Fields::default();
        for (field, role) in self.structure.fields.iter().zip(&self.roles) {
            match (role, &field.ty) {
                (Some(Role::Width), ty) => fields.numbers[0] = Some(integer(reader, ty)?),
                (Some(Role::Height), ty) => fields.numbers[1] = Some(integer(reader, ty)?),
                (Some(Role::Step), ty) => fields.numbers[2] = Some(integer(reader, ty)?),
                (Some(Role::IsBigEndian), ty) => fields.numbers[3] = Some(integer(reader, ty)?),
                (Some(Role::Encoding), _) => fields.text = reader.text()?,
                (Some(Role::Format), _) if self.is_file => fields.text = reader.text()?,
                (Some(Role::Data), Type::Vector(_)) => fields.data = reader.slice()?,
                (Some(Role::Data), Type::Array(_, length)) => fields.data = reader.elements(u64::from(*length))?,
                (_, ty) => reader.skip_value(ty)?,
            }
        }
        Ok(fields)
    }
}

/// Of any size; less than zero is more than any picture has.
fn integer(reader: &mut Reader<'_>, ty: &Type) -> Result<u64, Malformed> {
    let unsigned = |number: i64| u64::try_from(number).unwrap_or(u64::MAX);
    Ok(match ty {
        Type::Number(Number::Bool) => u64::from(reader.bool()?),
        Type::Number(Number::Uint8) => reader.number::<u8>()?.into(),
        Type::Number(Number::Uint16) => reader.number::<u16>()?.into(),
        Type::Number(Number::Uint32) => reader.number::<u32>()?.into(),
        Type::Number(Number::Int8) => unsigned(reader.number::<i8>()?.into()),
        Type::Number(Number::Int16) => unsigned(reader.number::<i16>()?.into()),
        Type::Number(Number::Int32) => unsigned(reader.number::<i32>()?.into()),
        Type::Number(Number::Int64) => unsigned(reader.number()?),
        _ => reader.number::<u64>()?,
    })
}

/// A file in memory.
fn decoded(format: &str, data: &[u8]) -> Result<RgbImage, String> {
    const MOST_PIXELS: u32 = 16384;
    let mut reader = ImageReader::new(Cursor::new(data));
    reader.limits({
        let mut limits = image::Limits::default(); // of memory, too
        limits.max_image_width = Some(MOST_PIXELS);
        limits.max_image_height = Some(MOST_PIXELS);
        limits
    });
    let reader = reader.with_guessed_format().map_err(|why| why.to_string())?;
    if reader.format().is_none_or(|format| !format.reading_enabled()) {
        return Err(format!("what is called '{}' is neither JPEG nor PNG", shown(format)));
    }
    match reader.decode().map_err(|why| shown(&why.to_string()))? {
        DynamicImage::ImageLuma16(depth) => {
            let (width, height) = depth.dimensions();
            let pixels = gray(depth.into_raw().into_iter().map(f32::from));
            RgbImage::from_raw(width, height, pixels).ok_or_else(|| "it has other pixels than it says".to_owned())
        }
        picture => Ok(picture.to_rgb8()),
    }
}
