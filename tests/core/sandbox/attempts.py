"""Ways a parser might try to get out, each of which must end in an error with nothing done.

Every attempt would leave a mark if it worked: it reads the secret, makes the
target, knocks at the port, signals the parent, or sets `obs` to a text. They
reach the modules they need past the import check, as hostile code would.
"""

import platform

PRELUDE = """
import random
os = random._os
sys = os.sys
M = sys.modules

def call(number, *arguments):
    ctypes = M["ctypes"]
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(ctypes.c_long(number), *arguments) == -1:
        raise OSError(ctypes.get_errno(), "refused")

def shell(status):
    if status != 0:
        raise OSError("the shell did not run")
    return "done"
"""

MODULES = (
    "atexit ctypes fcntl gc importlib importlib.machinery importlib.util mmap multiprocessing.shared_memory pickle "
    "pty resource select signal socket subprocess threading urllib.request"
).split()

_X86 = platform.machine() == "x86_64"
NUMBERS = {
    "ptrace": 101 if _X86 else 117,
    "execve": 59 if _X86 else 221,
    "execveat": 322 if _X86 else 281,
    "clone3": 435,
    "process_vm_readv": 310 if _X86 else 270,
    "add_key": 248 if _X86 else 217,
    "io_uring_setup": 425,
    "userfaultfd": 323 if _X86 else 282,
    "memfd_create": 319 if _X86 else 279,
    "bpf": 321 if _X86 else 280,
    "perf_event_open": 298 if _X86 else 241,
    "personality": 135 if _X86 else 92,
    "unshare": 272 if _X86 else 97,
    "shmget": 29 if _X86 else 194,
    "mq_open": 240 if _X86 else 180,
    "seccomp": 317 if _X86 else 277,
    "prctl": 157 if _X86 else 167,
    "pidfd_getfd": 438,
    "mprotect": 10 if _X86 else 226,
    "openat2": 437,
    "inotify_init1": 294 if _X86 else 26,
    "setresuid": 117 if _X86 else 147,
}

FILES = {
    "open a file to read": "obs = open(SECRET).read()",
    "open a file to write": "open(TARGET, 'w').write('x'); obs = 'done'",
    "open by descriptor": "obs = os.read(os.open(SECRET, os.O_RDONLY), 99).decode()",
    "open as code": "obs = M['io'].open_code(SECRET).read().decode()",
    "the builtins of the builtins": "obs = __builtins__['open'](SECRET).read()",
    "list a folder": "obs = str(os.listdir(FOLDER))",
    "ask for the size": "obs = str(os.stat(SECRET).st_size)",
    "make a folder": "os.mkdir(TARGET); obs = 'done'",
    "make a symbolic link": "os.symlink(SECRET, TARGET); obs = 'done'",
    "make a hard link": "os.link(SECRET, TARGET); obs = 'done'",
    "make a named pipe": "os.mkfifo(TARGET); obs = 'done'",
    "rename": "os.rename(SECRET, TARGET); obs = 'done'",
    "delete": "os.unlink(SECRET); obs = 'done'",
    "change the mode": "os.chmod(SECRET, 0); obs = 'done'",
    "truncate": "os.truncate(SECRET, 0); obs = 'done'",
    "where am I": "obs = os.getcwd()",
    "the name of the machine": "obs = M['socket'].gethostname()",
    "change the root": "os.chroot('/'); obs = 'done'",
    "own environment from the kernel": "obs = open('/proc/self/environ').read()",
    "own memory from the kernel": "open('/proc/self/mem', 'r+b'); obs = 'done'",
    "environment of the parent": "obs = open(f'/proc/{PARENT}/environ').read()",
    "a device": "obs = str(open('/dev/zero', 'rb').read(3))",
    "a variable of the environment": "obs = os.environ['BACKSTEP_TRAP']",
    "all of the environment": "obs = ' '.join(os.environ)",
    "open through the C library": (
        "libc = M['ctypes'].CDLL(None)\nif libc.open(SECRET.encode(), 0) < 0: raise OSError('no')\nobs = 'done'"
    ),
    "open in a newer way": "call(N['openat2'], -100, SECRET.encode(), b'\\0' * 24, 24); obs = 'done'",
    "load a module from a file": (
        "import_from = M['importlib.machinery'].SourceFileLoader('secret', SECRET)\nimport_from.load_module()"
        "\nobs = 'done'"
    ),
    "import by other means": "M['importlib'].import_module('socketserver'); obs = 'done'",
    "import within eval": "obs = eval('__import__(\"os\").listdir(FOLDER)')[0]",
    "import within exec": "exec('import os; open(TARGET, \"w\")'); obs = 'done'",
}

PROCESSES = {
    "a shell": "obs = shell(os.system(f'touch {TARGET}'))",
    "a shell with a pipe": "obs = os.popen(f'touch {TARGET}; echo done').read()",
    "a subprocess": "M['subprocess'].run(['touch', TARGET], check=True); obs = 'done'",
    "another program in its place": "os.execv('/usr/bin/touch', ['touch', TARGET])",
    "a spawned program": "os.posix_spawn('/usr/bin/touch', ['touch', TARGET], {}); obs = 'done'",
    "a child": "os.fork() or open(TARGET, 'w'); obs = 'done'",
    "a bomb of children": "while True: os.fork()",
    "a terminal": "M['pty'].fork(); obs = 'done'",
    "a thread": "M['_thread'].start_new_thread(print, ()); obs = 'done'",
    "a thread of the library": "M['threading'].Thread(target=print).start(); obs = 'done'",
    "a new session": "os.setsid(); obs = 'done'",
    "another program by number": "call(N['execve'], b'/bin/true', None, None); obs = 'done'",
    "another program by descriptor": "call(N['execveat'], -100, b'/bin/true', None, None, 0); obs = 'done'",
    "a child by number": "call(N['clone3'], b'\\0' * 88, 88); obs = 'done'",
    "a subclass that knows a shell": (
        "wrap = [c for c in ().__class__.__base__.__subclasses__() if c.__name__ == '_wrap_close'][0]\n"
        "obs = shell(wrap.__init__.__globals__['system'](f'touch {TARGET}'))"
    ),
    "a frame that knows a shell": (
        "frame = sys._getframe()\nwhile frame.f_back: frame = frame.f_back\n"
        "obs = shell(frame.f_globals['sys'].modules['os'].system(f'touch {TARGET}'))"
    ),
    "an object that knows a shell": (
        "found = [o for o in M['gc'].get_objects() if type(o) is type(os) and o.__name__ == 'os']\n"
        "obs = shell(found[0].system(f'touch {TARGET}'))"
    ),
    "a pickle with a shell": (
        "class Bomb:\n    def __reduce__(self): return os.system, (f'touch {TARGET}',)\n"
        "obs = shell(M['pickle'].loads(M['pickle'].dumps(Bomb())))"
    ),
    "an attempt at the end": (
        "M['atexit'].register(lambda: open(TARGET, 'w'))\n"
        "class Late:\n    def __del__(self): open(TARGET, 'w')\nlate = Late()\nsys.exit()"
    ),
}

NETWORK = {
    "connect": "M['socket'].create_connection(('127.0.0.1', PORT)); obs = 'done'",
    "fetch a page": "obs = M['urllib.request'].urlopen(f'http://127.0.0.1:{PORT}/').read().decode()",
    "ask for a name": "obs = str(M['socket'].getaddrinfo('localhost', 80))",
    "a socket of the system": "M['socket'].socket(M['socket'].AF_UNIX); obs = 'done'",
    "a pair of sockets": "M['socket'].socketpair(); obs = 'done'",
    "a socket to the kernel": "M['socket'].socket(M['socket'].AF_NETLINK, 3, 0); obs = 'done'",
}

SYSTEM = {
    "signal the parent": "os.kill(PARENT, 10); obs = 'done'",
    "signal the parent by handle": ("M['signal'].pidfd_send_signal(os.pidfd_open(PARENT), 10); obs = 'done'"),
    "trace the parent": "call(N['ptrace'], 0x4206, PARENT, 0, 0); obs = 'done'",
    "read the parent's memory": "call(N['process_vm_readv'], PARENT, None, 0, None, 0, 0); obs = 'done'",
    "take a descriptor of another": "call(N['pidfd_getfd'], 3, 0, 0); obs = 'done'",
    "kernel keys": "call(N['add_key'], b'user', b'trap', b'x', 1, -2); obs = 'done'",
    "an io_uring": "call(N['io_uring_setup'], 1, b'\\0' * 120); obs = 'done'",
    "page faults of its own": "call(N['userfaultfd'], 1); obs = 'done'",
    "a file of memory": "call(N['memfd_create'], b'x', 0); obs = 'done'",
    "a program for the kernel": "call(N['bpf'], 0, b'\\0' * 72, 72); obs = 'done'",
    "counters": "call(N['perf_event_open'], b'\\0' * 112, 0, -1, -1, 0); obs = 'done'",
    "another personality": "call(N['personality'], 0x0400000); obs = 'done'",
    "a namespace of its own": "call(N['unshare'], 0x10000000); obs = 'done'",
    "old shared memory": "call(N['shmget'], 0, 4096, 0o1600); obs = 'done'",
    "shared memory": "M['multiprocessing.shared_memory'].SharedMemory(create=True, size=9); obs = 'done'",
    "a message queue": "call(N['mq_open'], b'trap', 0o102, 0o600, None); obs = 'done'",
    "another filter": "call(N['seccomp'], 0, 0, None); obs = 'done'",
    "outliving the parent": "call(N['prctl'], 1, 0, 0, 0, 0); obs = 'done'",
    "another user": "call(N['setresuid'], 0, 0, 0); obs = 'done'",
    "watching files": "call(N['inotify_init1'], 0); obs = 'done'",
    "lifting its limits": (
        "r = M['resource']\nr.setrlimit(r.RLIMIT_AS, (r.RLIM_INFINITY, r.RLIM_INFINITY)); obs = 'done'"
    ),
    "the limits of the parent": "obs = str(M['resource'].prlimit(PARENT, M['resource'].RLIMIT_CORE))",
    "memory that runs": "m = M['mmap']\nm.mmap(-1, 4096, prot=m.PROT_READ | m.PROT_EXEC); obs = 'done'",
    "making memory run": (
        "m = M['mmap'].mmap(-1, 4096)\nat = M['ctypes'].addressof(M['ctypes'].c_char.from_buffer(m))\n"
        "call(N['mprotect'], M['ctypes'].c_void_p(at), M['ctypes'].c_size_t(4096), 5); obs = 'done'"
    ),
    "a pipe": "os.pipe(); obs = 'done'",
    "another descriptor": "os.dup(1); obs = 'done'",
    "reading what it was given": "obs = os.read(0, 99).decode()",
    "writing to what was left open": (
        "reached = 0\nfor fd in (0, *range(2, 300)):\n    try: reached += os.write(fd, b'x')\n"
        "    except OSError: pass\nif not reached: raise OSError('nothing was open')\nobs = 'done'"
    ),
    "waiting on others": "M['select'].epoll(); obs = 'done'",
}

TIME_AND_MEMORY = {
    "an endless loop": "while True: pass",
    "an endless loop that ignores signals": (
        "for number in range(1, 65):\n    try: M['signal'].signal(number, M['signal'].SIG_IGN)\n"
        "    except (OSError, ValueError): pass\nwhile True: pass"
    ),
    "an endless loop that catches everything": (
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass"
    ),
    "a long sleep": "import time\ntime.sleep(1000)",
    "a long sum in C": "sum(range(10**15))",
    "a power too high": "9 ** 9 ** 9",
    "an expression that backtracks": "import re\nre.match('(a+)+$', 'a' * 60 + 'b')",
    "a lock taken twice": "lock = M['_thread'].allocate_lock(); lock.acquire(); lock.acquire()",
    "a loop when forgotten": "class Late:\n    def __del__(self):\n        while True: pass\nLate()",
    "one large thing": "obs = 'x' * 10**10",
    "many small things": "kept = []\nwhile True: kept.append(object())",
    "growing memory": "kept = bytearray()\nwhile True: kept += b'x' * 10**6",
    "mapped memory": "kept = []\nwhile True: kept.append(M['mmap'].mmap(-1, 10**8))",
    "a text too long": "obs = 'x' * 10**6",
    "an answer without end": "while True: os.write(1, b'T' * 65536)",
    "a long answer forged": "os.write(1, b'T' + b'x' * 64_001); os._exit(0)",
    "a false length": (
        "class Text(str):\n    def encode(self, *a): return b'x' * 10**6\n    def __len__(self): return 1\n"
        "    def strip(self): return 'x'\n    def __str__(self): return 'x' * 10**6\nobs = Text('')"
    ),
    "a false type": "class Text:\n    __class__ = str\nobs = Text()",
    "recursion": "def again(): return again()\nagain()",
    "recursion without a limit": (
        "sys.setrecursionlimit(2**31 - 1)\ndef again(x): return max([x], key=again)\nagain(1)"
    ),
    "brackets without end": "eval('(' * 10**6)",
    "laughs without end, lxml": (
        "from lxml import etree\nlol = ''.join(f'<!ENTITY l{i + 1} \"{f\"&l{i};\" * 10}\">' for i in range(12))\n"
        "page = f'<!DOCTYPE a [<!ENTITY l0 \"lol\">{lol}]><a>&l12;</a>'\n"
        "parser = etree.XMLParser(resolve_entities=True, huge_tree=True)\n"
        "obs = etree.fromstring(page, parser).text"
    ),
    "laughs without end, expat": (
        "import xml.etree.ElementTree as etree\n"
        "lol = ''.join(f'<!ENTITY l{i + 1} \"{f\"&l{i};\" * 10}\">' for i in range(12))\n"
        "obs = etree.fromstring(f'<!DOCTYPE a [<!ENTITY l0 \"lol\">{lol}]><a>&l12;</a>').text"
    ),
}

CRASHES = {
    "reading address zero": "M['ctypes'].string_at(0)",
    "damaged code": "exec((lambda: 'x').__code__.replace(co_consts=(), co_stacksize=0))",
    "aborting": "os.abort()",
    "ending the process": "os._exit(0)",
    "ending the process with a code": "os._exit(7)",
    "leaving": "raise SystemExit",
    "interrupting": "raise KeyboardInterrupt",
    "an error that cannot be shown": (
        "class Odd(Exception):\n    def __str__(self): return 1 / 0\nraise Odd"
    ),
    "an error with a long text": "raise ValueError('x\\n' * 10**6)",
    "asking for input": "obs = input()",
    "reading the standard input": "obs = sys.stdin.read()",
    "a debugger": "breakpoint()",
    "printing instead of returning": "print('done')",
}

XML = {
    "an entity that is a file": (
        "from lxml import etree\nparser = etree.XMLParser(resolve_entities=True, load_dtd=True, no_network=False)\n"
        "page = f'<!DOCTYPE a [<!ENTITY x SYSTEM \"file://{SECRET}\">]><a>&x;</a>'\n"
        "obs = etree.fromstring(page, parser).text or ''"
    ),
    "an entity that is a page": (
        "from lxml import etree\nparser = etree.XMLParser(resolve_entities=True, load_dtd=True, no_network=False)\n"
        "page = f'<!DOCTYPE a [<!ENTITY x SYSTEM \"http://127.0.0.1:{PORT}/\">]><a>&x;</a>'\n"
        "obs = etree.fromstring(page, parser).text or ''"
    ),
    "parsing a file": "from lxml import etree\nobs = str(etree.parse(SECRET, etree.HTMLParser()).getroot().text)",
    "parsing a page of the network": (
        "import lxml.html\nobs = lxml.html.parse(f'http://127.0.0.1:{PORT}/').getroot().text_content()"
    ),
    "including a file": (
        "from lxml import etree\nroot = etree.fromstring('<a xmlns:i=\"http://www.w3.org/2001/XInclude\">'\n"
        'f\'<i:include href="{SECRET}" parse="text"/></a>\')\nroot.getroottree().xinclude()\n'
        "obs = root.text or root[0].text or ''"
    ),
    "a stylesheet that reads": (
        "from lxml import etree\nsheet = etree.XML('<x:stylesheet version=\"1.0\" '\n"
        '\'xmlns:x="http://www.w3.org/1999/XSL/Transform"><x:template match="/">\'\n'
        "f'<x:copy-of select=\"document(&quot;{PAGE}&quot;)\"/></x:template></x:stylesheet>')\n"
        "obs = str(etree.XSLT(sheet)(etree.XML('<a/>'))).replace('<?xml version=\"1.0\"?>', '').strip()"
    ),
    "a stylesheet that writes": (
        "from lxml import etree\nsheet = etree.XML('<x:stylesheet version=\"1.0\" '\n"
        '\'xmlns:x="http://www.w3.org/1999/XSL/Transform" xmlns:e="http://exslt.org/common" \'\n'
        'f\'extension-element-prefixes="e"><x:template match="/"><e:document href="{TARGET}">x</e:document>\'\n'
        "'</x:template></x:stylesheet>')\n"
        "obs = str(etree.XSLT(sheet)(etree.XML('<a/>'))).replace('<?xml version=\"1.0\"?>', '').strip()"
    ),
    "writing a tree": "from lxml import etree\netree.ElementTree(etree.XML('<a/>')).write(TARGET); obs = 'done'",
    "a resolver of its own": (
        "from lxml import etree\nclass Own(etree.Resolver):\n"
        "    def resolve(self, url, public, context): return self.resolve_filename(SECRET, context)\n"
        "parser = etree.XMLParser(resolve_entities=True, load_dtd=True)\nparser.resolvers.add(Own())\n"
        "obs = etree.fromstring('<!DOCTYPE a [<!ENTITY x SYSTEM \"own\">]><a>&x;</a>', parser).text or ''"
    ),
}

WATCHED = {**FILES, **PROCESSES, **NETWORK, **SYSTEM}
"""Those that the checks inside Python may see before the kernel does."""
ALL = {**WATCHED, **TIME_AND_MEMORY, **CRASHES, **XML}
ALONE = {**TIME_AND_MEMORY, **CRASHES}
"""Those that end or harm the process they are made in."""
