/** The document that loads the browser program, with the headers that bound what it may do. */
import { html } from '../html/mod.ts';
import type { BuiltConsole, ConsoleFile, FileRole } from './app/built-console.ts';
import { DOOR_ICON } from './door-icon.ts';
import type { PageText } from './english-page-text.ts';
import type { PageLanguage } from './page-text.ts';

/**
 * The head of the frame, as the program draws it: a browser shows it as soon as it has the styles, while the program loads,
 * which then replaces it.
 */
const COMING = html`<div class="fd-frame" id="coming">
  <header class="fd-head"><span class="fd-brand">Frontdoor</span></header>
</div>`;

export interface AppDocumentPlace {
  /** The path of the console. */
  readonly base: string;
  /** Allows styles that the program adds. */
  readonly nonce: string;
  /** {base_url}, which commands and programs use. */
  readonly baseUrl: string;
  /** The control plane's. */
  readonly version: string | undefined;
  /** Until the program runs, which has one of its own. */
  readonly language: PageLanguage;
  readonly text: Pick<PageText, 'needsScript'>;
}

export function appDocument(
  { key, files }: BuiltConsole,
  { base, nonce, baseUrl, version = '', language, text }: AppDocumentPlace,
): string {
  const urlsOf = (role: FileRole): readonly string[] =>
    [...files.values()].filter((file) => file.role === role).map(({ name }) => `${base}/assets/${name}`);
  const styles = urlsOf('style').map((url) => html`<link rel="stylesheet" href="${url}" />`);
  const chunks = urlsOf('preload').map((url) => html`<link rel="modulepreload" href="${url}" />`);
  const scripts = urlsOf('entry').map((url) => html`<script type="module" src="${url}"></script>`);
  return html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>Frontdoor</title>
        <link rel="icon" href="${DOOR_ICON}" />
        <meta name="frontdoor-console-base" content="${base}" />
        <meta name="frontdoor-console-build" content="${key}" />
        <meta name="frontdoor-base-url" content="${baseUrl}" />
        <meta name="frontdoor-version" content="${version}" />
        <style nonce="${nonce}" id="nonce"></style>
        ${styles} ${chunks} ${scripts}
      </head>
      <body>
        <div id="root">${COMING}</div>
        <noscript>${text.needsScript}</noscript>
      </body>
    </html> `.markup;
}

/** The content policy of the document. */
export function appPolicy(nonce: string): string {
  return (
    `default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self' 'nonce-${nonce}'; ` +
    `img-src 'self' data: blob:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`
  );
}

export interface CodedBody {
  readonly body: Uint8Array;
  readonly coding: 'br' | 'gzip' | undefined;
}

/** Returns the file in the smallest form that the reader accepts. */
export function codedBody(file: ConsoleFile, acceptEncoding: string | undefined): CodedBody {
  const accepted = (acceptEncoding ?? '')
    .toLowerCase()
    .split(',')
    .map((each) => each.trim())
    .filter((each) => !/;\s*q=0(?:\.0*)?$/.test(each))
    .map((each) => each.split(';')[0]!.trim());
  if (accepted.includes('br')) return { body: file.brotli, coding: 'br' };
  if (accepted.includes('gzip')) return { body: file.gzip, coding: 'gzip' };
  return { body: file.bytes, coding: undefined };
}

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  map: 'application/json; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  woff2: 'font/woff2',
};

export function typeOf(name: string): string {
  return TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
}
