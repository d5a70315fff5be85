/**
 * One request for a file of a folder. `@fastify/send` answers conditions and ranges; what is read, and by which name, is
 * decided here and in `served-folder.ts`. Every file that is opened is closed with the response.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import send from '@fastify/send';
import { STATUS_CODES } from '#net';
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
const ALWAYS = { 'X-Content-Type-Options': 'nosniff' };
const SEND_OPTIONS = {
  cacheControl: false,
  contentType: false,
  // The path leads to a file that is open, and was judged.
  dotfiles: 'allow',
  index: false,
  // Bytes of the file in memory, beside what the circuit holds.
  highWaterMark: 32 * 1024,
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
    this.#sendBody(stream, size);
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
      stream.destroy();
      const range = sent.headers['Content-Range'];
      if (range !== undefined) this.#response.setHeader('Content-Range', range);
      this.#refuse(statusCode);
      return;
    }
    const described = statusCode === 304 ? { Vary: headers['Vary'] } : headers;
    this.#response.writeHead(statusCode, { ...described, ...sent.headers });
    this.#sendBody(stream, Number(sent.headers['Content-Length'] ?? 0));
  }

  /**
   * Sends exactly `length` bytes. A file that has become shorter or longer breaks the connection, because its reader would
   * take the next answer for the rest of this one.
   */
  #sendBody(stream: Readable, length: number): void {
    const response = this.#response;
    response.on('close', () => stream.destroy());
    stream.on('error', () => response.destroy());
    if (this.#request.method === 'HEAD' || length === 0 || response.closed) {
      stream.destroy();
      response.end();
      return;
    }
    let left = length;
    stream.on('data', (chunk: Buffer) => {
      left -= chunk.length;
      if (left < 0) response.destroy();
      else if (!response.write(chunk)) stream.pause();
    });
    response.on('drain', () => stream.resume());
    stream.on('end', () => {
      if (left === 0) response.end();
      else response.destroy();
    });
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
