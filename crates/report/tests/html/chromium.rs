//! A headless Chromium, controlled by its DevTools protocol over a pipe: one JSON text per message, each ended by a
//! zero byte (`--remote-debugging-pipe`). Needs no port, and no crate.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

const PROGRAMS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// The timeout of an answer: test machines are busy.
const PATIENCE: Duration = Duration::from_secs(180);

/// The width of A4 between margins of 1 cm, in CSS pixels (96 per inch).
const SHEET_WIDTH: u32 = 718;
const SHEET_HEIGHT: u32 = 1047;

/// The browser reads descriptor 3 and writes descriptor 4; the shell connects our pipes there.
const START: &str = "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null";

pub struct Chromium {
    child: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    asked: u64,
    session: String,
    events: Vec<Value>,
    _home: TempDir,
}

impl Chromium {
    /// Starts the browser; `None` if it is not installed, after a message.
    pub fn start() -> Option<Self> {
        let folders = std::env::var_os("PATH").unwrap_or_default();
        let is_there =
            |program: &&&str| std::env::split_paths(&folders).any(|folder| folder.join(program).is_file());
        let Some(program) = PROGRAMS.iter().find(is_there) else {
            return skip("no Chromium to open the page with; install chromium");
        };
        let home = tempfile::tempdir().expect("a folder");
        let mut child = Command::new("sh")
            .args(["-c", START, program])
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
            ])
            .args([
                "--remote-debugging-pipe",
                "--disable-background-networking",
                "--disable-component-update",
            ])
            .arg(format!("--user-data-dir={}", home.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell");
        let to = child.stdin.take().expect("a pipe");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe"));
        let (send, from) = channel();
        std::thread::spawn(move || {
            let mut text = Vec::new();
            while lines.read_until(0, &mut text).is_ok_and(|read| read > 0) {
                text.pop();
                let Ok(message) = serde_json::from_slice(&text) else { break };
                if send.send(message).is_err() {
                    break;
                }
                text.clear();
            }
        });
        let mut browser =
            Self { child, to, from, asked: 0, session: String::new(), events: Vec::new(), _home: home };
        let page = browser.ask("Target.createTarget", json!({ "url": "about:blank" }));
        let target = json!({ "targetId": page["targetId"], "flatten": true });
        let session = browser.ask("Target.attachToTarget", target);
        browser.session = session["sessionId"].as_str().expect("a session").to_owned();
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.ask(&format!("{domain}.enable"), json!({}));
        }
        Some(browser)
    }

    /// Sends a request and waits for the answer; events in between are kept.
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        self.asked += 1;
        let id = self.asked;
        let mut message = json!({ "id": id, "method": method, "params": params });
        if !self.session.is_empty() {
            message["sessionId"] = self.session.as_str().into();
        }
        let text = message.to_string() + "\0";
        self.to.write_all(text.as_bytes()).and_then(|()| self.to.flush()).expect("the browser listens");
        let answer = self.wait(&|message| message["id"] == id);
        assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
        answer["result"].clone()
    }

    fn wait(&mut self, is_it: &dyn Fn(&Value) -> bool) -> Value {
        let until = Instant::now() + PATIENCE;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let message = self.from.recv_timeout(left).expect("the browser answers");
            if is_it(&message) {
                return message;
            }
            self.events.push(message);
        }
    }

    /// Opens a file in a window of this width, and waits until it is loaded. Forgets earlier events.
    pub fn open(&mut self, path: &Path, width: u32) {
        self.events.clear();
        let size = json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        self.ask("Emulation.setDeviceMetricsOverride", size);
        self.ask("Page.navigate", json!({ "url": format!("file://{}", path.display()) }));
        // The event may have come with the answer.
        if !self.events.iter().any(|event| event["method"] == "Page.loadEventFired") {
            let loaded = self.wait(&|message| message["method"] == "Page.loadEventFired");
            self.events.push(loaded);
        }
    }

    /// The upper left of the page as PNG, in base64.
    pub fn picture(&mut self, width: u32, height: u32) -> String {
        let clip = json!({ "x": 0, "y": 0, "width": width, "height": height, "scale": 1 });
        let asked = json!({ "format": "png", "clip": clip, "captureBeyondViewport": true });
        let made = self.ask("Page.captureScreenshot", asked);
        made["data"].as_str().expect("a picture").to_owned()
    }

    /// Sets the system's preference for light or dark.
    pub fn prefer(&mut self, scheme: &str) {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.ask("Emulation.setEmulatedMedia", json!({ "features": features }));
    }

    /// Shows the page as printed on A4 with margins of 1 cm, without breaks.
    pub fn as_printed(&mut self) {
        let size =
            json!({ "width": SHEET_WIDTH, "height": SHEET_HEIGHT, "deviceScaleFactor": 1, "mobile": false });
        self.ask("Emulation.setDeviceMetricsOverride", size);
        self.ask("Emulation.setEmulatedMedia", json!({ "media": "print" }));
        self.value("dispatchEvent(new Event('beforeprint')), new Promise((done) => setTimeout(done, 50))");
    }

    /// The number of A4 sheets of the page, and the number that its content would fill without breaks.
    pub fn sheets(&mut self) -> (u64, f64) {
        self.as_printed();
        let height = self.value("document.body.getBoundingClientRect().height").as_f64().expect("a height");
        let inches = json!({ "paperWidth": 8.27, "paperHeight": 11.69, "marginTop": 0.39, "marginBottom": 0.39,
            "marginLeft": 0.39, "marginRight": 0.39 });
        let printed = self.ask("Page.printToPDF", inches);
        let data = printed["data"].as_str().expect("a document");
        // ISO 32000-1, 7.7.3.3: each sheet is an object of the type Page.
        let sheets = self.value(&format!("atob('{data}').match(/\\/Type\\s*\\/Page\\b/g).length"));
        (sheets.as_u64().expect("a count"), height / f64::from(SHEET_HEIGHT))
    }

    pub fn value(&mut self, expression: &str) -> Value {
        let asked = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let answer = self.ask("Runtime.evaluate", asked);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Errors and warnings on the console since the page was opened.
    pub fn complaints(&self) -> Vec<String> {
        let said = |event: &Value| match event["method"].as_str()? {
            "Runtime.exceptionThrown" => Some(event["params"]["exceptionDetails"].to_string()),
            "Runtime.consoleAPICalled" => Some(event["params"]["args"].to_string()),
            "Log.entryAdded" => Some(event["params"]["entry"].to_string()),
            _ => None,
        };
        self.events.iter().filter_map(said).collect()
    }

    /// Network requests since the page was opened, without the page itself.
    pub fn requests(&self) -> Vec<String> {
        let asked = self.events.iter().filter(|event| event["method"] == "Network.requestWillBeSent");
        let urls = asked.filter_map(|event| event["params"]["request"]["url"].as_str().map(str::to_owned));
        urls.skip(1).filter(|url| !url.starts_with("data:")).collect()
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        // Its children end with their pipes.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Prints why nothing is tested; continuous integration has all packages.
#[expect(clippy::print_stdout, reason = "a skipped test says so")]
pub fn skip<T>(why: &str) -> Option<T> {
    assert!(std::env::var_os("CI").is_none_or(|ci| ci != "true"), "{why}");
    println!("skipped: {why}");
    None
}
