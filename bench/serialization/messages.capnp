@0xd3a1f2c4b5968771;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("sinew::bench::as_capnproto");

struct Header {
  seconds @0 :Int32;
  nanoseconds @1 :UInt32;
  frame @2 :Text;
}

struct Image {
  header @0 :Header;
  height @1 :UInt32;
  width @2 :UInt32;
  encoding @3 :Text;
  isBigendian @4 :UInt8;
  step @5 :UInt32;
  data @6 :Data;
}

struct PointField {
  name @0 :Text;
  offset @1 :UInt32;
  datatype @2 :UInt8;
  count @3 :UInt32;
}

struct Cloud {
  header @0 :Header;
  height @1 :UInt32;
  width @2 :UInt32;
  fields @3 :List(PointField);
  isBigendian @4 :Bool;
  pointStep @5 :UInt32;
  rowStep @6 :UInt32;
  data @7 :Data;
  isDense @8 :Bool;
}

struct Vector3 {
  x @0 :Float64;
  y @1 :Float64;
  z @2 :Float64;
}

struct Quaternion {
  x @0 :Float64;
  y @1 :Float64;
  z @2 :Float64;
  w @3 :Float64;
}

struct Imu {
  header @0 :Header;
  orientation @1 :Quaternion;
  orientationCovariance @2 :List(Float64);
  angularVelocity @3 :Vector3;
  angularVelocityCovariance @4 :List(Float64);
  linearAcceleration @5 :Vector3;
  linearAccelerationCovariance @6 :List(Float64);
}

struct TextEntry {
  key @0 :Text;
  value @1 :Text;
}

struct TextMap {
  entries @0 :List(TextEntry);
}
