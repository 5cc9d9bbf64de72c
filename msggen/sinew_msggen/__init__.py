"""Reads message definitions of ROS 1 and ROS 2, and writes what programs need of them: C++ headers, signatures, schemas and hashes."""
