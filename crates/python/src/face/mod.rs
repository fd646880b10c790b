//! What Python sees: the module's functions and classes. Options are read here, and nowhere below.

mod bson;
mod codec;
mod copy;
mod descriptor;
mod document;
mod files;
mod foreign;
mod functions;
mod julia;
mod log;
mod msgpack;
mod options;
mod outline;
mod pickle;
mod streams;
mod types;

pub use functions::canonical_key;
pub use types::{record_type, Record};

use crate::error;
use pyo3::prelude::*;

/// The native part of holdall.
#[pymodule(gil_used = true)]
#[pyo3(name = "_core")]
fn core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    crate::memory::quiet_lack_of_memory();
    // SAFETY: the GIL is held; the datetime API is imported before anything uses it.
    unsafe {
        crate::cpython::self_test().map_err(pyo3::exceptions::PyImportError::new_err)?;
        pyo3::ffi::PyDateTime_IMPORT();
        if pyo3::ffi::PyDateTimeAPI().is_null() {
            return Err(PyErr::fetch(py));
        }
    }
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    for (name, class) in [
        ("HoldallError", py.get_type::<error::HoldallError>()),
        ("EncodeError", py.get_type::<error::EncodeError>()),
        ("DecodeError", py.get_type::<error::DecodeError>()),
        ("TruncatedError", py.get_type::<error::TruncatedError>()),
        ("ChecksumError", py.get_type::<error::ChecksumError>()),
        ("LimitError", py.get_type::<error::LimitError>()),
        ("UnknownTypeError", py.get_type::<error::UnknownTypeError>()),
        ("ValidationError", py.get_type::<error::ValidationError>()),
    ] {
        module.add(name, class)?;
    }
    module.add_class::<types::Limits>()?;
    module.add_class::<Record>()?;
    module.add_class::<codec::Encoder>()?;
    module.add_class::<codec::Decoder>()?;
    module.add_function(wrap_pyfunction!(functions::dumps, module)?)?;
    module.add_function(wrap_pyfunction!(functions::loads, module)?)?;
    module.add_function(wrap_pyfunction!(pickle::dumps_pickle, module)?)?;
    module.add_function(wrap_pyfunction!(pickle::loads_pickle, module)?)?;
    module.add_function(wrap_pyfunction!(pickle::load_pickle, module)?)?;
    module.add_class::<pickle::PicklerMemo>()?;
    module.add_class::<pickle::UnpicklerMemo>()?;
    module.add_function(wrap_pyfunction!(files::dump, module)?)?;
    module.add_function(wrap_pyfunction!(files::load, module)?)?;
    module.add_function(wrap_pyfunction!(files::load_mapped, module)?)?;
    module.add_function(wrap_pyfunction!(files::file_write, module)?)?;
    module.add_class::<log::LogWriter>()?;
    module.add_class::<log::LogReader>()?;
    module.add_class::<log::Damage>()?;
    module.add_function(wrap_pyfunction!(log::check::verify, module)?)?;
    module.add_function(wrap_pyfunction!(log::check::repair, module)?)?;
    module.add_function(wrap_pyfunction!(log::check::file_kind, module)?)?;
    module.add_function(wrap_pyfunction!(log::check::frames_of, module)?)?;
    module.add_function(wrap_pyfunction!(log::check::file_body, module)?)?;
    module.add("file_start_size", holdall_format::hold::frame::START)?;
    module.add_function(wrap_pyfunction!(copy::deepcopy, module)?)?;
    module.add_function(wrap_pyfunction!(outline::outline, module)?)?;
    module.add_function(wrap_pyfunction!(outline::guess_format, module)?)?;
    module.add_function(wrap_pyfunction!(foreign::foreign_format, module)?)?;
    module.add_function(wrap_pyfunction!(foreign::explain_error, module)?)?;
    module.add_function(wrap_pyfunction!(foreign::name_foreign, module)?)?;
    module.add_function(wrap_pyfunction!(crate::class::registry::register_class, module)?)?;
    module.add_function(wrap_pyfunction!(crate::class::registry::class_settings, module)?)?;
    module.add_function(wrap_pyfunction!(crate::class::registry::registered_subclasses, module)?)?;
    module.add_class::<crate::schema::CompiledSchema>()?;
    module.add_function(wrap_pyfunction!(crate::schema::compile_schema, module)?)?;
    module.add_function(wrap_pyfunction!(msgpack::dumps, module)?)?;
    module.add_function(wrap_pyfunction!(msgpack::loads, module)?)?;
    module.add_function(wrap_pyfunction!(msgpack::scan, module)?)?;
    module.add("MsgpackEncoder", py.get_type::<msgpack::MsgpackEncoder>())?;
    module.add("MsgpackDecoder", py.get_type::<msgpack::MsgpackDecoder>())?;
    module.add_function(wrap_pyfunction!(bson::dumps, module)?)?;
    module.add_function(wrap_pyfunction!(bson::loads, module)?)?;
    module.add("BsonEncoder", py.get_type::<bson::BsonEncoder>())?;
    module.add("BsonDecoder", py.get_type::<bson::BsonDecoder>())?;
    module.add_class::<document::Document>()?;
    module.add_function(wrap_pyfunction!(document::open, module)?)?;
    module.add("julia_tags", julia::tags(py)?)?;
    module.add_function(wrap_pyfunction!(julia::dumps, module)?)?;
    module.add_function(wrap_pyfunction!(julia::loads, module)?)?;
    module.add_function(wrap_pyfunction!(julia::parse, module)?)?;
    module.add_function(wrap_pyfunction!(julia::open, module)?)?;
    module.add_function(wrap_pyfunction!(bson::driver_encode, module)?)?;
    module.add_function(wrap_pyfunction!(bson::driver_decode, module)?)?;
    module.add_function(wrap_pyfunction!(bson::driver_decode_all, module)?)?;
    Ok(())
}
