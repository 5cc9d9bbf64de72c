from . import qos
from .images import image_array
from .qos import Qos
from .types import Array, enumeration, float32, float64, int8, int16, int32, int64, message, uint8, uint16, uint32, uint64
