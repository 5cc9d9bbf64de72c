//! Messages between the processes of a robot, read where their publisher wrote them.
