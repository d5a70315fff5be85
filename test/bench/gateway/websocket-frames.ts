/**
 * The little of RFC 6455 that a load needs: a request for an upgrade, one masked text message made once, and the answer
 * to it byte by byte. A whole client would take more CPU time than what is measured.
 */
const KEY = Buffer.from('frontdoor bench!').toString('base64');
const MASK = Buffer.from([0x12, 0x34, 0x56, 0x78]);
const TEXT_FINAL = 0x81;
/** Lengths above need a longer form. */
const MAX_SHORT = 125;

export function upgradeRequest(
  host: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): string {
  const fields = {
    Host: host,
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': KEY,
    ...headers,
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return `GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

export function clientMessage(text: string): Buffer {
  const payload = checkedPayload(text);
  const masked = payload.map((byte, index) => byte ^ MASK[index & 3]!);
  return Buffer.concat([Buffer.from([TEXT_FINAL, 0x80 | payload.length]), MASK, masked]);
}

export function serverMessage(text: string): Buffer {
  const payload = checkedPayload(text);
  return Buffer.concat([Buffer.from([TEXT_FINAL, payload.length]), payload]);
}

function checkedPayload(text: string): Buffer {
  const payload = Buffer.from(text, 'utf8');
  if (payload.length > MAX_SHORT) throw new RangeError(`a message of ${payload.length} bytes is too long`);
  return payload;
}
