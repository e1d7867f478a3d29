// A peer of symacct verify in Rust: rustc peer.rs; put your accountant in place of rdp().
use std::io::{self, BufRead, Write};

/// What stands behind the first "name": of the line, up to the next comma or brace.
fn field<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let key = format!("\"{name}\": ");
    let rest = &line[line.find(&key)? + key.len()..];
    Some(rest[..rest.find([',', '}'])?].trim_matches('"'))
}

fn number(line: &str, name: &str) -> f64 {
    field(line, name).and_then(|text| text.parse().ok()).unwrap_or(f64::NAN)
}

fn rdp(alpha: f64, sigma: f64, count: f64) -> f64 {
    count * alpha / (2.0 * sigma * sigma)
}

fn main() -> io::Result<()> {
    for line in io::stdin().lock().lines() {
        let line = line?;
        let answer = match field(&line, "ask") {
            Some("hello") => r#""peer": "mine", "supports": [{"mechanism": "Gaussian"}]"#.to_string(),
            Some("rdp") => {
                let [alpha, sigma, count] = ["alpha_float", "sigma_float", "count"].map(|n| number(&line, n));
                format!("\"value\": {:e}", rdp(alpha, sigma, count))
            }
            _ => r#""unsupported": "only rdp""#.to_string(),
        };
        println!("{{\"id\": {}, {answer}}}", field(&line, "id").unwrap_or("0"));
        io::stdout().flush()?;
    }
    Ok(())
}
