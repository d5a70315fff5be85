/**
 * One request for a file of a folder. `@fastify/send` answers conditions and ranges; what is read, and by which name, is
 * decided here and in `served-folder.ts`. Every file that is opened is closed with the response.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import send from '@fastify/send';
import { STATUS_CODES } from '#net/http';
import { parseFilePath, pathOf, storedEncodings } from './file-path-policy.ts';
import { folderListing } from './folder-listing.ts';
import { findFile, openFolder, type Found, type FolderRules, type OpenFile } from './served-folder.ts';

export interface FolderOptions extends FolderRules {
  /** Whether a folder without an index is listed. */
  readonly listing: boolean;
  /** Whether the index at the top answers for paths without a file. */
  readonly singlePage: boolean;
}

const INDEX = 'index.html';
const NOT_FOUND = '404.html';
/** Bytes of the file in memory for each answer, beside what the circuit holds. */
const READ_BYTES = 32 * 1024;
const ALWAYS = { 'X-Content-Type-Options': 'nosniff' };
const SEND_OPTIONS = {
  cacheControl: false,
  contentType: false,
  // The path leads to a file that is open, and was judged.
  dotfiles: 'allow',
  index: false,
} as const;

export class FolderAnswer {
  readonly #options: FolderOptions;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #opened: OpenFile[] = [];
  #root = '';

  constructor(options: FolderOptions, request: IncomingMessage, response: ServerResponse) {
    this.#options = options;
    this.#request = request;
    this.#response = response;
    response.on('error', () => {});
    response.on('close', () => this.#close());
  }

  /** Throws a `FolderRefusal`, or what the file system throws. */
  async send(): Promise<void> {
    try {
      await this.#send();
    } finally {
      if (this.#response.closed) this.#close();
    }
  }

  async #send(): Promise<void> {
    const { method, url = '' } = this.#request;
    if (method !== 'GET' && method !== 'HEAD') {
      this.#response.setHeader('Allow', 'GET, HEAD');
      this.#refuse(405);
      return;
    }
    this.#root = await openFolder(this.#options);
    const path = parseFilePath(url);
    const found = path === undefined ? undefined : await this.#find(path.names);
    if (path === undefined || found === undefined) await this.#sendAbsent(path?.names);
    else if (found === 'forbidden') this.#refuse(403);
    else if ('handle' in found) {
      // The path of a folder names no file.
      if (path.isFolder) await this.#sendAbsent(path.names);
      else await this.#sendFile(path.names, found);
    } else if (path.isFolder || path.names.length === 0) await this.#sendFolder(path.names, found.folder);
    else {
      this.#response.setHeader('Location', `${pathOf(path.names, true)}${path.query}`);
      this.#refuse(308);
    }
  }

  async #sendFolder(names: readonly string[], folder: string): Promise<void> {
    const index = [...names, INDEX];
    const found = await this.#find(index);
    if (isFile(found)) await this.#sendFile(index, found);
    else if (this.#options.listing) await folderListing(this.#root, folder, names, this.#response);
    else await this.#sendAbsent(names);
  }

  async #sendAbsent(names: readonly string[] | undefined): Promise<void> {
    // A missing script or picture is no page of an application.
    const isPage = names !== undefined && names.at(-1)?.includes('.') !== true;
    const index = this.#options.singlePage && isPage ? await this.#find([INDEX]) : undefined;
    if (isFile(index)) {
      await this.#sendFile([INDEX], index);
      return;
    }
    const page = await this.#find([NOT_FOUND]);
    if (!isFile(page)) {
      this.#refuse(404);
      return;
    }
    // The page was not asked for, so that conditions and ranges do not apply to it.
    const { method } = this.#request;
    const { stream } = await send({ method, headers: {} } as IncomingMessage, urlOf(page), SEND_OPTIONS);
    const { size } = page.stats;
    this.#response.writeHead(404, { ...ALWAYS, 'Content-Type': typeOf(NOT_FOUND), 'Content-Length': size });
    discard(stream);
    await this.#sendBody(page, 0, size);
  }

  /** Sends a file, or a compressed form that is stored beside it. */
  async #sendFile(names: readonly string[], original: OpenFile): Promise<void> {
    const [name = '', folder] = [names.at(-1), names.slice(0, -1)];
    const headers = { ...ALWAYS, 'Content-Type': typeOf(name), Vary: 'Accept-Encoding' };
    for (const { encoding, ending } of storedEncodings(this.#request.headers['accept-encoding'])) {
      const stored = await this.#find([...folder, `${name}${ending}`]);
      if (!isFile(stored)) continue;
      await this.#sendOpened(stored, { ...headers, 'Content-Encoding': encoding });
      return;
    }
    await this.#sendOpened(original, headers);
  }

  async #sendOpened(file: OpenFile, headers: Readonly<Record<string, string>>): Promise<void> {
    const sent = await send(this.#request, urlOf(file), SEND_OPTIONS);
    const { statusCode, stream } = sent;
    if (sent.type !== 'file') {
      discard(stream);
      const range = sent.headers['Content-Range'];
      if (range !== undefined) this.#response.setHeader('Content-Range', range);
      this.#refuse(statusCode);
      return;
    }
    const described = statusCode === 304 ? { Vary: headers['Vary'] } : headers;
    this.#response.writeHead(statusCode, { ...described, ...sent.headers });
    discard(stream);
    const start = Number(/^bytes (\d+)-/.exec(String(sent.headers['Content-Range'] ?? ''))?.[1] ?? 0);
    await this.#sendBody(file, start, Number(sent.headers['Content-Length'] ?? 0));
  }

  /**
   * Sends exactly `length` bytes. A file that has become shorter breaks the connection, because its reader would take the next
   * answer for the rest of this one. Reading by a stream would leave its blocks to the garbage collector, which an agent in
   * 64 MiB does not survive.
   */
  async #sendBody({ handle }: OpenFile, start: number, length: number): Promise<void> {
    const response = this.#response;
    let left = this.#request.method === 'HEAD' ? 0 : length;
    let at = start;
    const buffer = Buffer.allocUnsafeSlow(Math.min(READ_BYTES, left));
    while (left > 0 && !response.destroyed) {
      const { bytesRead } = await handle.read(buffer, 0, Math.min(buffer.length, left), at);
      if (bytesRead === 0) {
        response.destroy();
        return;
      }
      at += bytesRead;
      left -= bytesRead;
      // The circuit has copied the bytes once this is over, so that one buffer serves the whole answer.
      await new Promise<void>((resolve) => response.write(buffer.subarray(0, bytesRead), () => resolve()));
    }
    response.end();
  }

  async #find(names: readonly string[]): Promise<Found> {
    const found = await findFile(this.#root, names);
    if (isFile(found)) this.#opened.push(found);
    return found;
  }

  #refuse(status: number): void {
    refuse(this.#response, status);
  }

  #close(): void {
    for (const { handle } of this.#opened.splice(0)) void handle.close().catch(() => {});
  }
}

export function refuse(response: ServerResponse, status: number): void {
  const text = `${status} ${STATUS_CODES[status] ?? ''}\n`;
  const length = Buffer.byteLength(text);
  response.writeHead(status, {
    ...ALWAYS,
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': length,
  });
  response.end(text);
}

/**
 * Ends a stream of `@fastify/send`, which is not read here. It opens its file later, and that fails where the response has closed
 * the file by then.
 */
export function discard(stream: Readable): void {
  stream.on('error', () => {}).destroy();
}

function isFile(found: Found): found is OpenFile {
  return typeof found === 'object' && 'handle' in found;
}

/** The path of an open file, as the library takes it. */
function urlOf({ path }: OpenFile): string {
  return path.split('/').map(encodeURIComponent).join('/');
}

function typeOf(name: string): string {
  const known = send.mime.getType(name) ?? 'application/octet-stream';
  // RFC 9239: the name that the library has is obsolete.
  const type = known === 'application/javascript' ? 'text/javascript' : known;
  return send.isUtf8MimeType(type) ? `${type}; charset=utf-8` : type;
}
