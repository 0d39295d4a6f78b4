"""Where programs are built, materials are kept, and runs are taken in turns."""

import atexit
import contextlib
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time

PROJECT = pathlib.Path(__file__).resolve().parents[2]
BENCHMARKS = PROJECT / "Benchmarks"
SYSTEM_PYTHON = "/usr/bin/python3"
# How Pillow writes what make-pictures.py does not.
REWRITTEN = {
    "progressive-jpeg": "picture.save(sys.argv[2], 'JPEG', progressive=True, quality=85)",
    "gif": "picture.quantize(256).save(sys.argv[2], 'GIF', interlace=0)",
}
PILLOW_SIMD = "pillow-simd==12.1.1.post0"


def call(command, **arguments):
    """Runs a command that must succeed; its output."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **arguments)
    if done.returncode != 0:
        sys.stderr.write(done.stdout[-4000:] + done.stderr[-4000:])
        sys.exit(f"{' '.join(str(word) for word in command)[:300]} ended with status {done.returncode}")
    return done.stdout


class Report(dict):
    """What a program reported, by name."""

    def __missing__(self, name):
        sys.exit(f"a program did not report '{name}'; it reported {', '.join(self) or 'nothing'}")


def parse(text):
    """The lines `name<TAB>value<TAB>unit` of a report."""
    values = Report()
    for line in text.splitlines():
        parts = line.split("\t")
        if len(parts) >= 2:
            values[parts[0]] = float(parts[1])
    return values


class Workshop:
    def __init__(self, quick, rounds):
        self.quick = quick
        self.rounds = rounds
        self.place = BENCHMARKS / "build"
        self.place.mkdir(exist_ok=True)
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="scratch-", dir=self.place))
        atexit.register(shutil.rmtree, self.scratch, ignore_errors=True)
        self.materials = self.place / "materials"
        self.folders = {}
        self.load_before = os.getloadavg()[0]  # what else the machine did
        self.swift = None
        self.webimage = None

    # Programs

    def build(self):
        print("Building the library's programs and the C peers (release) …", flush=True)
        self.webimage = self.installed("command") / "webimage"
        self.swift = self.product(BENCHMARKS)
        call(["make", "--silent", "-C", BENCHMARKS / "C", f"OUT={self.place / 'C'}"])

    def product(self, package):
        """Builds a package; the folder of its programs."""
        # They carry Swift's standard library, as services that are deployed do. A cached build plan would not see files that are new in the library.
        command = ["swift", "build", "-c", "release", "--static-swift-stdlib", "--disable-build-manifest-caching",
                   "--package-path", package]
        # Nor does a build see that a type has another size in a module that programs import through another one.
        for source in (package / "Sources").rglob("*.swift"):
            source.touch()
        call(command)
        return pathlib.Path(call([*command, "--show-bin-path"]).strip())

    def installed(self, program):
        """Builds and installs a program as users do; the folder of programs."""
        place = self.place / "installed"
        call([PROJECT / "Scripts/install", "--only", program, "--prefix", "/usr", "--destdir", place])
        return place / "usr/bin"

    def gallery(self):
        """The gallery; it needs GTK's headers."""
        return self.installed("gallery") / "webimage-gallery"

    def ours(self, name, *arguments, one_core=False, **options):
        """Runs one of our programs, on one core only if wanted, and reads its report."""
        prefix = ["taskset", "--cpu-list", "0"] if one_core else []
        return parse(call([*prefix, self.swift / name, *arguments], **options))

    def c(self, name, *arguments, **options):
        """Runs one of the C programs and reads its report."""
        return parse(call([self.place / "C" / name, *arguments], **options))

    def counting(self):
        """The environment in which a program counts the blocks that it takes from the heap."""
        return {**os.environ, "LD_PRELOAD": str(self.place / "C" / "allocation-counter.so")}

    def measured(self, command, **arguments):
        """Runs any command: wall clock, CPU time and peak memory of it and what it waited for."""
        report = self.scratch / "measured.txt"
        call([self.place / "C" / "measure", report, *command], **arguments)
        return parse(report.read_text())

    def pillow_simd(self):
        """The Python that has Pillow-SIMD; None when it cannot be built here."""
        return self.venv("pillow-simd", PILLOW_SIMD, "Debian's Pillow stands in for it", CC="cc -mavx2")

    def venv(self, name, requirement, otherwise, **variables):
        """A Python that has a package of PyPI; None when it cannot be had here."""
        place = self.place / name
        python = place / "bin" / "python"
        if (place / "complete").exists():
            return python
        print(f"Getting {requirement} from PyPI …", flush=True)
        shutil.rmtree(place, ignore_errors=True)
        try:
            subprocess.run([SYSTEM_PYTHON, "-m", "venv", place], check=True, stdout=subprocess.DEVNULL)
            subprocess.run([python, "-m", "pip", "install", "--quiet", requirement], check=True, timeout=600,
                           env={**os.environ, **variables})
        except (subprocess.SubprocessError, OSError) as error:
            print(f"{requirement} cannot be had ({error}); {otherwise}.")
            return None
        (place / "complete").touch()
        return python

    # Materials

    def pictures(self, count):
        """JPEG files of 1 to 3 megapixels."""
        place = self.materials / f"jpeg-{count}"
        if not place.exists():
            call([SYSTEM_PYTHON, PROJECT / "Scripts" / "make-pictures.py", f"{place}.part", "--formats", "jpeg",
                  "--count", count, "--seed", 7])
            pathlib.Path(f"{place}.part").rename(place)
        return sorted(place.iterdir())

    def single_picture(self, megapixels):
        place = self.materials / f"jpeg-{megapixels}-megapixels"
        if not place.exists():
            call([SYSTEM_PYTHON, PROJECT / "Scripts" / "make-pictures.py", f"{place}.part", "--formats", "jpeg",
                  "--count", 1, "--megapixels", f"{megapixels}-{megapixels}"])
            pathlib.Path(f"{place}.part").rename(place)
        return next(place.iterdir())

    def picture(self, kind, megapixels):
        """A picture of that size as jpeg, progressive-jpeg, png, interlaced-png, webp, gif or jxl."""
        if kind == "jpeg":
            return self.single_picture(megapixels)
        place = self.materials / f"{kind}-{megapixels}-megapixels"
        if not place.exists():
            part = pathlib.Path(f"{place}.part")
            if kind in REWRITTEN:
                part.mkdir(exist_ok=True)
                call([SYSTEM_PYTHON, "-c", "import sys; from PIL import Image; picture = Image.open(sys.argv[1]); " + REWRITTEN[kind],
                      self.single_picture(megapixels), part / "picture"])
            elif kind == "jxl":
                part.mkdir(exist_ok=True)
                call(["cjxl", self.picture("png", megapixels), part / "picture", "--quality", "85", "--effort", "4"])
            elif kind == "interlaced-png":
                part.mkdir(exist_ok=True)
                call(["convert", self.single_picture(megapixels), "-interlace", "PNG", f"PNG24:{part / 'picture'}"])
            else:
                call([SYSTEM_PYTHON, PROJECT / "Scripts" / "make-pictures.py", part, "--formats", kind, "--count", 1,
                      "--megapixels", f"{megapixels}-{megapixels}"])
            part.rename(place)
        return next(place.iterdir())

    def folder(self, name):
        """A new folder for results. None is deleted before the end: ext4 is slow to make files after it deleted many."""
        number = self.folders[name] = self.folders.get(name, 0) + 1
        place = self.scratch / f"{name}-{number}"
        place.mkdir()
        return place

    def last_folder(self, name):
        return self.scratch / f"{name}-{self.folders[name]}"

    def text_file(self, name, lines):
        path = self.scratch / name
        path.write_text("".join(f"{line}\n" for line in lines))
        return path

    # Runs

    def in_turns(self, runs):
        """Runs everything once to warm up, then in turns A B C A B C …; a list of reports for each."""
        results = {name: [] for name in runs}
        for turn in range(self.rounds + 1):
            for name, run in runs.items():
                report = run()
                if turn > 0:
                    results[name].append(report)
        return results

    def in_a_row(self, run):
        """The reports of three runs that count as one: what else the machine does lasts less, and would be in the turn of one program only."""
        return [run() for _ in range(1 if self.quick else 3)]


def column(reports, name):
    return [report[name] for report in reports]


@contextlib.contextmanager
def nginx(documents, state, is_remote=False, filters=False):
    """Serves a folder from loopback as fast as nginx can, or as late as from afar, or its pictures in small; the URL it answers at."""
    state.mkdir(exist_ok=True)
    for _ in range(5):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        configuration = state / "nginx.conf"
        module, delays, places = REMOTE if is_remote else FILTERS if filters else ("", "", "root {documents};")
        configuration.write_text(NGINX.format(state=state, port=port, module=module, delays=delays, workers=2 if filters else 1,
                                              places=places.format(documents=documents),
                                              user="user root;" if os.getuid() == 0 else ""))
        path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
        server = subprocess.Popen(["nginx", "-p", state, "-c", configuration], env={**os.environ, "PATH": path},
                                  stderr=(state / "stderr.log").open("w"))
        try:
            if answers(port, server):
                yield f"http://127.0.0.1:{port}"
                return
        finally:
            server.terminate()
            server.wait()
    sys.exit("nginx did not start: " + (state / "stderr.log").read_text())


def answers(port, server):
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and server.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return True
        time.sleep(0.02)
    return False


# Each answer waits 20 to 200 ms, the same URL always as long.
REMOTE = ("load_module /usr/lib/nginx/modules/ngx_http_echo_module.so;",
          "split_clients $request_uri $delay { 20% 0.02; 20% 0.05; 20% 0.09; 20% 0.14; * 0.2; }",
          "location / {{ echo_sleep $delay; echo_exec @files; }}\n        location @files {{ root {documents}; }}")

FILTERS = ("load_module /usr/lib/nginx/modules/ngx_http_image_filter_module.so;", "",
           "location / {{ root {documents}; image_filter resize 512 -; image_filter_jpeg_quality 80; image_filter_buffer 32M; }}")

NGINX = """
{user}
{module}
daemon off;
worker_processes {workers};
pid {state}/nginx.pid;
error_log {state}/error.log;
events {{ worker_connections 1024; }}
http {{
    types {{ image/jpeg jpg; image/png png; }}
    access_log off;
    sendfile on;
    tcp_nopush on;
    keepalive_requests 1000000;
    open_file_cache max=4000;
    client_body_temp_path {state}/body;
    proxy_temp_path {state}/proxy;
    fastcgi_temp_path {state}/fastcgi;
    uwsgi_temp_path {state}/uwsgi;
    scgi_temp_path {state}/scgi;
    {delays}
    server {{
        listen 127.0.0.1:{port};
        {places}
    }}
}}
"""


@contextlib.contextmanager
def awake():
    """Keeps every processor awake, with work that gives way to all other, where frames are handed from thread to thread. The host of a virtual
    machine may take tens of milliseconds to wake a processor that slept, and of that no figure should tell. Not for work that starts threads: the
    kernel leaves a new thread beside the one that started it if no processor is idle."""
    # Ends with its parent, also if that is killed.
    spin = "import os\nparent = os.getppid()\nwhile os.getppid() == parent:\n    for _ in range(100_000): pass"
    idle = [subprocess.Popen(["chrt", "--idle", "0", sys.executable, "-c", spin]) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for process in idle:
            process.terminate()
            process.wait()
