//! Where formats differ from the generic loops: PyMongo's rules for BSON, and Julia's types.

pub mod julia;
pub mod lisp;
pub mod pymongo;
