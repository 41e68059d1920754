"""The process of a local LLM: llama.cpp's server for one GGUF file, on a free port of 127.0.0.1.

It is started as a script and imports nothing of the program: a crash of llama.cpp ends this process alone. A
variable of the environment says what to load, and one line of stdout where it answers. It ends when stdin does,
which happens with the program that started it, however that ends.
"""

import fcntl
import json
import os
import sys

ASKED = "BACKSTEP_LOCAL_LLM"


def main() -> None:
    """Serve until stdin ends; exit code 1 says that the model cannot be loaded, and stderr why."""
    # Loading holds Python's lock, so no thread could look: the system's signal ends the process.
    fcntl.fcntl(0, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(0, fcntl.F_SETFL, fcntl.fcntl(0, fcntl.F_GETFL) | os.O_ASYNC)
    asked = json.loads(os.environ[ASKED])
    try:
        import xllamacpp
    except ImportError as error:
        sys.exit(str(error))
    parameters = xllamacpp.CommonParams()
    parameters.model.path = asked["path"]
    parameters.model_alias = {asked["name"]}
    parameters.n_ctx = asked["context"]
    parameters.cpuparams.n_threads = asked["threads"] or -1
    parameters.api_keys = [asked["key"]]
    parameters.ui = False
    parameters.verbosity = 2
    parameters.cache_ram_mib = 1024
    try:
        server = xllamacpp.Server(parameters)
    except RuntimeError:
        sys.exit(1)  # llama.cpp has said why.
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
