use std::path::Path;
use std::{env, fs};

fn main() {
    // `cfg(Py_3_12)` and its like, for the structs whose layout differs by version.
    pyo3_build_config::use_pyo3_cfgs();
    let out = env::var("OUT_DIR").expect("cargo says where to write");
    fs::write(Path::new(&out).join("libpython.rs"), libpython()).expect("a folder of cargo's can be written to");
}

/// A macro that declares what CPython exports. On Windows, each name has to be found in a library when the extension is
/// linked: PyO3 has those that it declares itself taken from the DLL of that version without a file to link by, and so
/// does this.
fn libpython() -> String {
    let windows = env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "windows");
    let link = match pyo3_build_config::get().lib_name().filter(|_| windows) {
        Some(name) => format!("#[link(name = \"{name}\", kind = \"raw-dylib\")]"),
        None => String::new(),
    };
    format!("macro_rules! libpython {{ ($($item:tt)*) => {{ {link} extern \"C\" {{ $($item)* }} }} }}\n")
}
