//! Writes the tables of `docs/format.md`, `docs/msgpack.md`, `docs/bson.md`, `docs/julia.md` and `docs/lisp.md` anew, so that a tag's number (or
//! name) stands in `tag.rs` and nowhere else.
//!
//! A table stands between `<!-- table: NAME -->` and `<!-- end -->`; what is between them is replaced, all else is kept.

use holdall_format::bson;
use holdall_format::hold::codec::Codec;
use holdall_format::hold::tag;
use holdall_format::julia;
use holdall_format::lisp;
use holdall_format::model::reduce;
use holdall_format::msgpack;
use holdall_format::table::Row;
use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

const PAGES: [&str; 5] = [
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/format.md"),
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/msgpack.md"),
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/bson.md"),
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/julia.md"),
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/lisp.md"),
];
const END: &str = "<!-- end -->";

/// Rows of equal length; the first is the head.
fn table(rows: &[Vec<String>]) -> String {
    let mut out = String::new();
    for (at, row) in rows.iter().enumerate() {
        let _ = writeln!(out, "| {} |", row.join(" | "));
        if at == 0 {
            let _ = writeln!(out, "|{}", "---|".repeat(row.len()));
        }
    }
    out
}

fn row(cells: &[&str]) -> Vec<String> {
    cells.iter().map(|&cell| cell.to_owned()).collect()
}

fn byte(value: u8) -> String {
    format!("`0x{value:02X}`")
}

fn versions() -> String {
    table(&[
        row(&["first byte", "message"]),
        row(&[&byte(tag::VERSION), "version 1, ordinary"]),
        row(&[&byte(tag::VERSION_TRUSTED), "version 1, trusted: may name code"]),
        row(&[&byte(tag::VERSION_CONTINUED), "version 1, trusted, and goes on with the messages before it"]),
        row(&[&byte(tag::SEALED), "a seal, version 1, with a message or a file within: section 14"]),
        row(&[&byte(tag::SEALED_LOG), "a sealed log, version 1: section 14"]),
    ])
}

fn tags(all: &[Row]) -> String {
    first_bytes(["tag", "name", "what follows", "meaning"], all)
}

fn first_bytes(head: [&str; 4], all: &[Row]) -> String {
    let mut rows = vec![row(&head)];
    for Row { name, first, last, payload, meaning } in all {
        let bytes = if first == last { byte(*first) } else { format!("{}-{}", byte(*first), byte(*last)) };
        rows.push(row(&[&bytes, name, payload, meaning]));
    }
    table(&rows)
}

fn documents() -> String {
    let mut rows = vec![row(&["`tag`", "other elements", "what it stands for"])];
    for julia::tag::Row { name, parts, meaning, .. } in julia::tag::ROWS {
        let parts: Vec<String> = parts.iter().map(|part| format!("`{part}`")).collect();
        rows.push(row(&[&format!("`{name}`"), &parts.join(", "), meaning]));
    }
    table(&rows)
}

fn elements() -> String {
    let mut rows = vec![row(&["number", "element type", "bits", "array"])];
    for lisp::tag::ElementRow { code, bits, name, array, .. } in lisp::tag::ELEMENTS {
        rows.push(row(&[&code.to_string(), name, &bits.to_string(), array]));
    }
    table(&rows)
}

fn lengths() -> String {
    table(&[
        row(&["first byte", "the length"]),
        row(&[&format!("{}-{}", byte(0), byte(tag::LENGTH_FIX)), "is that byte"]),
        row(&[&byte(tag::LENGTH_16), "is the u16 that follows"]),
        row(&[&byte(tag::LENGTH_32), "is the u32 that follows"]),
        row(&[&byte(tag::LENGTH_64), "is the u64 that follows"]),
        row(&[&byte(u8::MAX), "no meaning in version 1: refused"]),
    ])
}

fn kinds() -> String {
    let kinds = [
        (tag::KIND_OBJECT, "object", "a value for each field"),
        (tag::KIND_BASED, "based", "the content, then a value for each field"),
        (tag::KIND_ENUM, "enum", "the member's name (text), or its value if it has no name; no fields"),
        (tag::KIND_CUSTOM, "custom", "one value, which the class's own functions return and take; no fields"),
    ];
    let mut rows = vec![row(&["kind", "name", "values of an instance"])];
    rows.extend(kinds.map(|(code, name, values)| row(&[&code.to_string(), name, values])));
    table(&rows)
}

fn known() -> String {
    let mut rows = vec![row(&["code", "type", "values"])];
    for (code, known, values) in tag::KNOWN {
        rows.push(row(&[&code.to_string(), known.name(), values]));
    }
    table(&rows)
}

fn flags() -> String {
    let flags = [
        (reduce::NEW, "the function is a class, to be instantiated by its `__new__`", "none"),
        (reduce::NEW_KEYWORDS, "the same, with keyword arguments", "dict, right after the arguments"),
        (reduce::ITEMS, "items to append", "list"),
        (reduce::PAIRS, "items to set", "list of key and value tuples"),
        (reduce::STATE, "a state to set", "any"),
        (reduce::SETTER, "the setter of the state; only with a state", "function of object and state"),
        (reduce::AGAIN, "made within its own arguments", "int: its id, before the function"),
    ];
    let mut rows = vec![row(&["flag", "meaning", "its value"])];
    rows.extend(flags.map(|(flag, meaning, value)| row(&[&flag.to_string(), meaning, value])));
    table(&rows)
}

fn codes(of: &str, all: &[tag::Code]) -> String {
    let mut rows = vec![row(&["kind", "name", of])];
    rows.extend(all.iter().map(|code| row(&[&code.code.to_string(), code.name, code.meaning])));
    table(&rows)
}

fn out_of_band() -> String {
    let mut rows = vec![row(&["form", "what the value becomes"])];
    rows.extend(tag::OUT_OF_BAND.iter().map(|(code, _, meaning)| row(&[&code.to_string(), meaning])));
    table(&rows)
}

fn codecs() -> String {
    let mut rows = vec![row(&["codec", "name", "compressed bytes"])];
    for codec in (0..4).filter_map(Codec::of) {
        let bytes = match codec {
            Codec::Stored => "none: the body is stored as it is",
            Codec::Zstd => "a frame of Zstandard (RFC 8878)",
            Codec::Lz4 => "a block of LZ4, without LZ4's own frame or a size",
        };
        rows.push(row(&[&(codec as u8).to_string(), codec.name(), bytes]));
    }
    table(&rows)
}

/// `page` with every table written anew; an unknown name or a missing end is an error.
fn regenerate(page: &str) -> Result<String, String> {
    let mut out = String::with_capacity(page.len());
    let mut rest = page;
    while let Some((before, after)) = rest.split_once("<!-- table: ") {
        let (name, after) = after.split_once(" -->\n").ok_or("a marker without its end")?;
        let (_, after) = after.split_once(END).ok_or_else(|| format!("the table {name} has no end"))?;
        let made = match name {
            "versions" => versions(),
            "tags" => tags(tag::TABLE),
            "lengths" => lengths(),
            "kinds" => kinds(),
            "known" => known(),
            "flags" => flags(),
            "files" => codes("what follows the start", tag::FILES),
            "frames" => codes("body", tag::FRAMES),
            "lent" => out_of_band(),
            "codecs" => codecs(),
            "msgpack tags" => tags(msgpack::tag::TABLE),
            "bson types" => first_bytes(["type", "name", "value", "meaning"], bson::tag::TABLE),
            "julia tags" => documents(),
            "lisp codes" => first_bytes(["code", "name", "what follows", "meaning"], lisp::tag::TABLE),
            "lisp elements" => elements(),
            _ => return Err(format!("no table is called {name}")),
        };
        let _ = write!(out, "{before}<!-- table: {name} -->\n{made}{END}");
        rest = after;
    }
    out.push_str(rest);
    Ok(out)
}

fn rewrite(path: &Path) -> Result<(), String> {
    let page = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    std::fs::write(path, regenerate(&page)?).map_err(|error| error.to_string())
}

fn main() -> ExitCode {
    for page in PAGES.map(Path::new) {
        if let Err(error) = rewrite(page) {
            eprintln!("{}: {error}", page.display());
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
