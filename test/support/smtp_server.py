"""A mail server of Debian (aiosmtpd) with one listener for each way to speak SMTP. Received mail goes to standard output, as JSON lines.

The local part of a recipient decides about it: `unknown` is refused for good, `grey` is deferred once, `silent` gets no answer.
"""
import asyncio
import base64
import json
import ssl
import sys

from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword

settings = json.load(sys.stdin)
deferred = set()


def report(**fields):
    print(json.dumps(fields), flush=True)


class Handler:
    async def handle_RCPT(self, server, session, envelope, address, options):
        local = address.split("@")[0]
        if local == "unknown":
            return "550 5.1.1 No such user here"
        if local == "silent":
            await asyncio.sleep(3600)
        if local.startswith("grey") and address not in deferred:
            deferred.add(address)
            return "451 4.7.1 Greylisted, try again later"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        report(
            to=envelope.rcpt_tos,
            sender=envelope.mail_from,
            user=(session.auth_data or {}).get("user"),
            isTls=server.transport.get_extra_info("ssl_object") is not None,
            mail=base64.b64encode(envelope.content).decode(),
        )
        return "250 OK"


def authenticate(server, session, envelope, mechanism, data):
    if isinstance(data, LoginPassword):
        user, password = data.login.decode(), data.password.decode()
        if password == settings["password"]:
            return AuthResult(success=True, auth_data={"user": user})
    return AuthResult(success=False, handled=False)


async def main():
    loop = asyncio.get_running_loop()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(settings["cert"], settings["key"])
    login = {"auth_required": True, "authenticator": authenticate}
    kinds = {
        "none": ({}, None),
        "starttls": ({**login, "tls_context": context, "require_starttls": True}, None),
        "implicit": ({**login, "auth_require_tls": False}, context),
    }
    ports = {}
    for kind, (options, tls) in kinds.items():
        server = await loop.create_server(lambda o=options: SMTP(Handler(), loop=loop, **o), "127.0.0.1", 0, ssl=tls)
        ports[kind] = server.sockets[0].getsockname()[1]
    report(ports=ports)
    await asyncio.Event().wait()


asyncio.run(main())
