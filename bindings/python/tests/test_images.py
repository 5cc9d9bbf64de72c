"""Images are views: on the same memory, of the shape and the colours that the message tells."""

import types
import unittest

import numpy as np
import sinew


def image(height, width, encoding, data, **more):
    return types.SimpleNamespace(height=height, width=width, encoding=encoding, data=data, **more)


class Images(unittest.TestCase):
    def test_are_views_of_the_shape_of_their_encoding(self):
        for encoding, dtype, channels in (
            ("rgb8", "u1", 3),
            ("bgr8", "u1", 3),
            ("rgba8", "u1", 4),
            ("bgra8", "u1", 4),
            ("mono8", "u1", 1),
            ("mono16", "u2", 1),
            ("8UC1", "u1", 1),
            ("8UC", "u1", 1),
            ("16SC2", "i2", 2),
            ("16UC1", "u2", 1),
            ("32FC1", "f4", 1),
            ("32FC3", "f4", 3),
            ("64FC4", "f8", 4),
            ("bayer_rggb8", "u1", 1),
            ("yuv422", "u1", 2),
        ):
            with self.subTest(encoding=encoding):
                expected = np.arange(2 * 3 * channels).reshape((2, 3, channels)[: 2 + (channels > 1)]).astype("<" + dtype)
                data = np.frombuffer(expected.tobytes(), np.uint8)
                array = sinew.image_array(image(2, 3, encoding, data))
                np.testing.assert_array_equal(array, expected)
                self.assertEqual(array.dtype, expected.dtype)
                self.assertTrue(np.shares_memory(array, data))
                self.assertFalse(array.flags.writeable)

    def test_leave_out_what_lies_between_rows(self):
        data = np.arange(2 * 16, dtype=np.uint8)
        array = sinew.image_array(image(2, 4, "rgb8", data, step=16))
        np.testing.assert_array_equal(array, data.reshape(2, 16)[:, :12].reshape(2, 4, 3))
        self.assertTrue(np.shares_memory(array, data))
        # The last row may end with its last pixel.
        np.testing.assert_array_equal(sinew.image_array(image(2, 4, "rgb8", data[:28], step=16)), array)

    def test_of_the_other_byte_order_have_their_values(self):
        data = np.frombuffer(b"\x01\x02\x03\x04", np.uint8)
        self.assertEqual(sinew.image_array(image(1, 2, "mono16", data, is_bigendian=1)).tolist(), [[0x0102, 0x0304]])
        self.assertEqual(sinew.image_array(image(1, 2, "mono16", data, is_bigendian=0)).tolist(), [[0x0201, 0x0403]])

    def test_may_be_written_where_their_data_may(self):
        data = np.zeros(12, np.uint8)
        sinew.image_array(image(2, 2, "bgr8", data))[1, 1, 2] = 7
        self.assertEqual(data[11], 7)

    def test_that_are_being_filled_need_no_step(self):
        draft = sinew.type_of("sensor_msgs/msg/Image").draft(height=2, width=2, encoding="bgr8", data=np.arange(12, dtype=np.uint8))
        self.assertIsNone(draft.step)
        np.testing.assert_array_equal(sinew.image_array(draft), np.arange(12).reshape(2, 2, 3))
        self.assertTrue(np.shares_memory(sinew.image_array(draft), draft.data))

    def test_of_bytes_are_views_too(self):
        self.assertEqual(sinew.image_array(image(1, 2, "mono8", b"\x05\x06")).tolist(), [[5, 6]])

    def test_without_pixels_are_empty(self):
        self.assertEqual(sinew.image_array(image(0, 0, "rgb8", np.empty(0, np.uint8))).shape, (0, 0, 3))

    def test_that_are_not_what_they_say_are_refused(self):
        data = np.zeros(11, np.uint8)
        for wrong, says in (
            (image(2, 2, "rgb8", data), "has 12 bytes, but its data are 11"),
            (image(1, 2, "rgb8", data, step=5), "rows of 6 bytes, but its step is 5"),
            (image(2, 2, "nv21", data), "'nv21' is no encoding of pixels .* rgb8, .* 32FC3"),
            (image(2, 2, "8FC1", data), "is no encoding"),
            (image(2, 2, "", data), "is no encoding"),
            (image(2**31, 2**31, "rgb8", data), "but its data are 11"),
        ):
            with self.subTest(encoding=wrong.encoding), self.assertRaisesRegex(ValueError, says):
                sinew.image_array(wrong)
