"""Messages of the robot's worst night that are not of ROS."""

import numpy as np
import sinew
from numpy.typing import NDArray


@sinew.message("night/Beat")
class Beat:
    life: sinew.uint64
    number: sinew.uint64


@sinew.message("night/Blob")
class Blob:
    data: NDArray[np.uint8]
