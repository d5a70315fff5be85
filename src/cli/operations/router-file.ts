/** The file that `frontdoor fabric router create NAME --config FILE` writes: a whole router, as an operator would write it. Pure. */
import { formatHostPort, isJsonObject, isLoopbackHost, textsOf } from '#base';
import { parseIpNetwork } from '#domain';

export interface NewRouterFile {
  readonly name: string;
  /** Name of the file without its ending, for the files beside it. */
  readonly stem: string;
  /** `tls:host:port` of the control plane. */
  readonly ctrlAddress: string;
  /** Host that agents, gateways and other routers connect to. */
  readonly advertise: string;
  readonly port: number;
}

/** The address of the control channel, which an enrollment token names. Undefined for a token without one. */
export function ctrlAddressOf(token: string): string | undefined {
  const [, payload = ''] = token.split('.');
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
    return isJsonObject(claims) ? textsOf(claims['ctrls'])[0] : undefined;
  } catch {
    return undefined;
  }
}

export function routerFileText({ name, stem, ctrlAddress, advertise, port }: NewRouterFile): string {
  const text = (value: string): string => JSON.stringify(value);
  const isHere = isLoopbackHost(advertise);
  const bind = text(`tls:${isHere ? '127.0.0.1' : '0.0.0.0'}:${port}`);
  const place = text(formatHostPort(advertise, port));
  const isAddress = parseIpNetwork(advertise) !== undefined;
  const names = [...(isAddress ? [] : [advertise]), ...(advertise === 'localhost' ? [] : ['localhost'])];
  const addresses = [...(isAddress ? [advertise] : []), ...(advertise === '127.0.0.1' ? [] : ['127.0.0.1'])];
  return `# The router ${JSON.stringify(name)}. On its machine, in the folder with this file and its enrollment token:
#
#   frontdoor router enroll ${stem}.yml --jwt ${stem}.jwt
#   frontdoor router run ${stem}.yml
#
# "frontdoor router check FILE" validates it, "frontdoor router schema" prints the schema of all keys.
v: 3

# Enrollment writes these files. Paths are relative to the folder in which the router is started.
identity:
  cert: ${text(`${stem}.cert.pem`)}
  server_cert: ${text(`${stem}.server.pem`)}
  key: ${text(`${stem}.key.pem`)}
  ca: ${text(`${stem}.ca.pem`)}

# The control plane.
ctrl:
  endpoint: ${text(ctrlAddress)}
  # A control plane that is silent, as one that moved to another address, is given up after this time. The default is 30 s.
  heartbeats:
    sendInterval: 3s
    closeUnresponsiveTimeout: 9s

# Names and addresses in the certificate of the router, which clients verify.
edge:
  csr:
    sans:
      dns: [${names.map(text).join(', ')}]
      ip: [${addresses.map(text).join(', ')}]

# Agents, gateways and SDKs connect here; "advertise" is the address that they are given.
listeners:
  - binding: edge
    address: ${bind}
    options:
      advertise: ${place}

# Other routers connect to the same port, and this router connects to theirs.
link:
  listeners:
    - binding: transport
      bind: ${bind}
      advertise: ${place}
  dialers:
    - binding: transport

# Terminators of the type "transport" end here: services that this router itself connects to.
dialers:
  - binding: transport
`;
}
