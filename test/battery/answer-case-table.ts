/**
 * Answers of hostile and broken origins: their bytes (Latin-1) and what the client may see of them. Bytes that must
 * not reach a client contain `STOLEN`. Data alone.
 */

export type Outcome =
  /** The client gets 502, and no byte of the answer. */
  | 'refused'
  /**
   * The client gets the begin of the answer, and its connection breaks, so that it cannot take the answer for
   * complete.
   */
  | 'broken'
  /** The client gets exactly one answer, with the body `GOOD` or without a body. */
  | 'relayed';

export interface AnswerCase {
  readonly name: string;
  readonly bytes: string;
  readonly outcome: Outcome;
  /** The origin ends its connection behind the bytes. */
  readonly ends?: boolean;
  /** Bytes follow the answer. */
  readonly leavesBytes?: boolean;
  /** `GET` when absent. */
  readonly method?: string;
}

const OK = 'HTTP/1.1 200 OK\r\n';
const GOOD = `${OK}Content-Length: 4\r\n\r\nGOOD`;
const STOLEN = `${OK}Content-Length: 6\r\n\r\nSTOLEN`;

export const ANSWER_CASES: readonly AnswerCase[] = [
  {
    name: 'a bare LF in the status line',
    bytes: 'HTTP/1.1 200 OK\nContent-Length: 0\r\n\r\n',
    outcome: 'refused',
  },
  { name: 'a bare LF in a header', bytes: `${OK}X: y\nContent-Length: 0\r\n\r\n`, outcome: 'refused' },
  {
    name: 'a bare CR in a header',
    bytes: `${OK}X: y\rSet-Cookie: STOLEN\r\nContent-Length: 0\r\n\r\n`,
    outcome: 'refused',
  },
  { name: 'a NUL in a header', bytes: `${OK}X: y\0\r\nContent-Length: 0\r\n\r\n`, outcome: 'refused' },
  {
    name: 'a NUL in the reason',
    bytes: 'HTTP/1.1 200 O\0K\r\nContent-Length: 0\r\n\r\n',
    outcome: 'refused',
  },
  { name: 'a CR in the reason', bytes: 'HTTP/1.1 200 O\rK\r\nContent-Length: 0\r\n\r\n', outcome: 'refused' },
  { name: 'a folded header', bytes: `${OK}X: y\r\n z\r\nContent-Length: 0\r\n\r\n`, outcome: 'refused' },
  { name: 'a space before the colon', bytes: `${OK}Content-Length : 4\r\n\r\nGOOD`, outcome: 'refused' },
  { name: 'a line without a colon', bytes: `${OK}nonsense\r\nContent-Length: 0\r\n\r\n`, outcome: 'refused' },
  {
    name: 'two lengths',
    bytes: `${OK}Content-Length: 4\r\nContent-Length: 5\r\n\r\nSTOLEN`,
    outcome: 'refused',
  },
  {
    name: 'two equal lengths',
    bytes: `${OK}Content-Length: 4\r\nContent-Length: 4\r\n\r\nGOOD`,
    outcome: 'refused',
  },
  { name: 'a list of lengths', bytes: `${OK}Content-Length: 4, 4\r\n\r\nGOOD`, outcome: 'refused' },
  { name: 'a negative length', bytes: `${OK}Content-Length: -1\r\n\r\nSTOLEN`, outcome: 'refused' },
  { name: 'a signed length', bytes: `${OK}Content-Length: +4\r\n\r\nGOOD`, outcome: 'refused' },
  {
    name: 'a length beyond all numbers',
    bytes: `${OK}Content-Length: 99999999999999999999\r\n\r\nSTOLEN`,
    outcome: 'refused',
  },
  {
    name: 'a length and chunks',
    bytes: `${OK}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nSTOLEN`,
    outcome: 'refused',
  },
  {
    name: 'another coding before chunked',
    bytes: `${OK}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
    outcome: 'refused',
  },
  { name: 'an unknown coding', bytes: `${OK}Transfer-Encoding: xchunked\r\n\r\nSTOLEN`, outcome: 'refused' },
  {
    name: 'two codings',
    bytes: `${OK}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    outcome: 'refused',
  },
  {
    name: 'chunks in HTTP/1.0',
    bytes: 'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    outcome: 'refused',
  },
  {
    name: 'Transfer_Encoding',
    bytes: `${OK}Transfer_Encoding: chunked\r\nContent-Length: 4\r\n\r\nGOOD`,
    outcome: 'relayed',
  },
  { name: 'no status line', bytes: 'STOLEN\r\n\r\n', outcome: 'refused' },
  { name: 'a status of letters', bytes: 'HTTP/1.1 2x0 OK\r\n\r\n', outcome: 'refused' },
  {
    name: 'a status of two digits',
    bytes: 'HTTP/1.1 20 OK\r\nContent-Length: 0\r\n\r\n',
    outcome: 'refused',
  },
  {
    name: 'a status of four digits',
    bytes: 'HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n',
    outcome: 'refused',
  },
  { name: 'status 000', bytes: 'HTTP/1.1 000 OK\r\nContent-Length: 0\r\n\r\n', outcome: 'refused' },
  { name: 'HTTP/2.0', bytes: 'HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n', outcome: 'refused' },
  { name: 'HTTP/0.9', bytes: '<html>STOLEN</html>', outcome: 'refused', ends: true },
  { name: 'an empty line first', bytes: `\r\n${GOOD}`, outcome: 'refused' },
  { name: 'a request as the answer', bytes: 'GET / HTTP/1.1\r\nHost: x\r\n\r\n', outcome: 'refused' },
  { name: 'a huge head', bytes: `${OK}X: ${'a'.repeat(70_000)}\r\n\r\n`, outcome: 'refused' },
  {
    name: 'a thousand headers',
    bytes: `${OK}${'X: y\r\n'.repeat(1_000)}Content-Length: 0\r\n\r\n`,
    outcome: 'refused',
  },
  { name: 'a head without end', bytes: `${OK}X: y\r\n`, outcome: 'refused', ends: true },
  { name: 'nothing', bytes: '', outcome: 'refused', ends: true },
  {
    name: '101 that nobody asked for',
    bytes: 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nSTOLEN',
    outcome: 'refused',
  },
  {
    name: '103, then two lengths',
    bytes: `HTTP/1.1 103 Early Hints\r\n\r\n${OK}Content-Length: 4\r\nContent-Length: 5\r\n\r\nSTOLEN`,
    outcome: 'refused',
  },
  { name: 'a malformed 103', bytes: `HTTP/1.1 103 Early Hints\r\nX : y\r\n\r\n${GOOD}`, outcome: 'refused' },
  { name: 'a short body', bytes: `${OK}Content-Length: 100\r\n\r\nGO`, outcome: 'broken', ends: true },
  {
    name: 'a short chunk',
    bytes: `${OK}Transfer-Encoding: chunked\r\n\r\n9\r\nGO`,
    outcome: 'broken',
    ends: true,
  },
  {
    name: 'chunks without their end',
    bytes: `${OK}Transfer-Encoding: chunked\r\n\r\n4\r\nGOOD\r\n`,
    outcome: 'broken',
    ends: true,
  },
  {
    name: 'a chunk size of letters',
    bytes: `${OK}Transfer-Encoding: chunked\r\n\r\nzz\r\nSTOLEN`,
    outcome: 'broken',
  },
  {
    name: 'a negative chunk size',
    bytes: `${OK}Transfer-Encoding: chunked\r\n\r\n-4\r\nSTOLEN`,
    outcome: 'broken',
  },
  {
    name: 'a chunk size beyond all numbers',
    bytes: `${OK}Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\nSTOLEN`,
    outcome: 'broken',
  },
  {
    name: 'a space after a chunk size',
    bytes: `${OK}Transfer-Encoding: chunked\r\n\r\n4 \r\nGOOD\r\n0\r\n\r\n`,
    outcome: 'broken',
  },
  {
    name: 'a bare LF after a chunk size',
    bytes: `${OK}Transfer-Encoding: chunked\r\n\r\n4\nGOOD\r\n0\r\n\r\n`,
    outcome: 'broken',
  },
  {
    name: 'chunk data longer than its size',
    bytes: `${OK}Transfer-Encoding: chunked\r\n\r\n4\r\nGOODSTOLEN\r\n0\r\n\r\n`,
    outcome: 'broken',
  },
  {
    name: 'a malformed trailer',
    bytes: `${OK}Transfer-Encoding: chunked\r\n\r\n4\r\nGOOD\r\n0\r\nX Y\r\n\r\n`,
    outcome: 'broken',
  },
  { name: 'a second answer', bytes: GOOD + STOLEN, outcome: 'relayed', leavesBytes: true },
  {
    name: 'a second answer behind chunks',
    bytes: `${OK}Transfer-Encoding: chunked\r\n\r\n4\r\nGOOD\r\n0\r\n\r\n${STOLEN}`,
    outcome: 'relayed',
    leavesBytes: true,
  },
  {
    name: 'a body longer than its length',
    bytes: `${OK}Content-Length: 4\r\n\r\nGOODSTOLEN`,
    outcome: 'relayed',
    leavesBytes: true,
  },
  {
    name: 'a second answer without a body',
    bytes: `${OK}Content-Length: 4\r\n\r\nGOODHTTP/1.1 204 STOLEN\r\n\r\n`,
    outcome: 'relayed',
    leavesBytes: true,
  },
  {
    name: '204 with a body',
    bytes: 'HTTP/1.1 204 No Content\r\nContent-Length: 6\r\n\r\nSTOLEN',
    outcome: 'relayed',
    leavesBytes: true,
  },
  {
    name: '304 with a body',
    bytes: 'HTTP/1.1 304 Not Modified\r\nContent-Length: 6\r\n\r\nSTOLEN',
    outcome: 'relayed',
    leavesBytes: true,
  },
  {
    name: '204 with chunks',
    bytes: 'HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nSTOLEN\r\n0\r\n\r\n',
    outcome: 'relayed',
    leavesBytes: true,
  },
  {
    name: 'a body in answer to HEAD',
    bytes: `${OK}Content-Length: 6\r\n\r\nSTOLEN`,
    outcome: 'relayed',
    leavesBytes: true,
    method: 'HEAD',
  },
  { name: 'a body up to the end', bytes: `${OK}\r\nGOOD`, outcome: 'relayed', ends: true },
  { name: 'HTTP/1.0 up to the end', bytes: 'HTTP/1.0 200 OK\r\n\r\nGOOD', outcome: 'relayed', ends: true },
  {
    name: 'a flood of 102 before the answer',
    bytes: `${'HTTP/1.1 102 Processing\r\n\r\n'.repeat(50)}${GOOD}`,
    outcome: 'relayed',
  },
  {
    name: 'a flood of 103 before the answer',
    bytes: `${'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(50)}${GOOD}`,
    outcome: 'relayed',
  },
  {
    name: '103 before the answer',
    bytes: `HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${GOOD}`,
    outcome: 'relayed',
  },
  {
    name: 'trailers',
    bytes: `${OK}Transfer-Encoding: chunked\r\n\r\n4\r\nGOOD\r\n0\r\nX: STOLEN\r\nContent-Length: 9\r\n\r\n`,
    outcome: 'relayed',
  },
  {
    name: 'chunk extensions',
    bytes: `${OK}Transfer-Encoding: chunked\r\n\r\n4;a="STOLEN"\r\nGOOD\r\n0\r\n\r\n`,
    outcome: 'relayed',
  },
  {
    name: 'hop-by-hop headers',
    bytes: `${OK}Connection: X-Listed, keep-alive\r\nX-Listed: STOLEN\r\nKeep-Alive: timeout=STOLEN\r\nProxy-Authenticate: STOLEN\r\nTrailer: STOLEN\r\nUpgrade: STOLEN\r\nContent-Length: 4\r\n\r\nGOOD`,
    outcome: 'relayed',
  },
  {
    name: '__proto__ as a header',
    bytes: `${OK}__proto__: x\r\nconstructor: y\r\nContent-Length: 4\r\n\r\nGOOD`,
    outcome: 'relayed',
  },
  { name: 'no reason', bytes: 'HTTP/1.1 200\r\nContent-Length: 4\r\n\r\nGOOD', outcome: 'relayed' },
  {
    name: 'a close that is announced',
    bytes: `${OK}Connection: close\r\nContent-Length: 4\r\n\r\nGOOD`,
    outcome: 'relayed',
    ends: true,
  },
];
