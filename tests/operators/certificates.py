"""An authority of our own, and certificates by it, made by the `openssl` of the machine."""

import ssl
import subprocess
from pathlib import Path
from typing import Final

CONFIG: Final = """
[req]
distinguished_name = name
prompt = no
[name]
CN = {name}
[authority]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign
subjectKeyIdentifier = hash
[server]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth, clientAuth
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
subjectAltName = {where}
"""


class Authority:
    """Whoever believes `path` believes what it has signed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir()
        self.path = self._made("authority", "authority")

    def server(self, where: str) -> ssl.SSLContext:
        """What a server needs that is found at `DNS:name` or `IP:address`."""
        name = where.replace(":", "-")
        path = self._made(name, "server", where, "-CA", str(self.path), "-CAkey", self._key())
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(path, self._key(name))
        return context

    def _key(self, name: str = "authority") -> str:
        return str(self._folder / f"{name}.key")

    def _made(self, name: str, kind: str, where: str = "DNS:nowhere", *signer: str) -> Path:
        made, config = self._folder / f"{name}.pem", self._folder / f"{name}.conf"
        config.write_text(CONFIG.format(name=name, where=where))
        command = ["openssl", "req", "-x509", "-config", str(config), "-extensions", kind]
        command += ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        command += ["-days", "2", "-keyout", self._key(name), "-out", str(made), *signer]
        subprocess.run(command, check=True, capture_output=True)
        return made
