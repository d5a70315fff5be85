/** Visits pages of the console inside the running program, without loading it again, and answers their calls of the API otherwise. */
import type { Locator, Page, Route } from 'playwright-core';

const API = '**/console/api/**';
/** Streams, and the session of the person, without which there is no page. */
const AS_THEY_ARE = /\/(changes|caller)$/;

/** Goes to a page by the router of the program, until it is drawn for the first time. */
export async function goTo(page: Page, path: string): Promise<void> {
  const href = `globalThis.__TSR_ROUTER__.basepath + ${JSON.stringify(path)}`;
  const drawn = '() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))';
  await page.evaluate(
    `globalThis.__TSR_ROUTER__.navigate({ href: ${href}, ignoreBlocker: true }).then(${drawn})`,
  );
}

/** What a page shows while it waits for answers. */
export const loadersOf = (page: Page): Locator => page.locator('main .mantine-Loader-root');

/** Goes to a page, and waits until it waits for nothing more. */
export async function visitPage(page: Page, path: string): Promise<void> {
  await goTo(page, path);
  await page.locator('main h1, main [role=alert]').first().waitFor();
  const loaders = loadersOf(page);
  while ((await loaders.count()) > 0) await loaders.first().waitFor({ state: 'detached' });
}

/** Calls of the API are answered by `answer`, until the page is closed. */
export async function answerCalls(page: Page, answer: (route: Route) => Promise<void>): Promise<void> {
  await page.route(API, async (route) => {
    const { pathname } = new URL(route.request().url());
    if (AS_THEY_ARE.test(pathname)) await route.continue();
    else await answer(route);
  });
}

const STATES: ReadonlySet<string> = new Set([
  'status',
  'state',
  'hop',
  'cause',
  'code',
  'action',
  'kind',
  'outcome',
  'role',
  'precedence',
  'terminatorStrategy',
  'verdict',
  'reason',
  'rule',
  'backendMode',
  'resourceType',
  'actorType',
]);

/** A JSON value of a later version: each object has another field, and each state is one that nobody knows. */
export function madeUnknown(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(madeUnknown);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, inner]) => [
    name,
    STATES.has(name) && typeof inner === 'string' ? 'BRAND_NEW' : madeUnknown(inner),
  ]);
  return { ...Object.fromEntries(entries), unknownField: { inner: ['of a later version'] } };
}

/** `[Šávé~~]`, also inside another one. */
const PSEUDO_TEXT = /\[[^[\]]*~\]/gsu;
/** Addresses, names of hosts, and methods of HTTP. */
const NO_LANGUAGE = /https?:\/\/\S+|[\w*-]+(\.[\w-]+)+(:\d+)?|\b[A-Z]{3,}\b|\bcurl --globoff .*/gs;
/** Times and sizes, as `Intl` writes them, and the name of the product. */
const OF_INTL =
  /^(AM|PM|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|now|in|ago|last|next|yesterday|tomorrow|ms|sec|min|hr|(second|minute|hour|day|month|year)s?|bytes?|[kMGT]B|Frontdoor)$/;
/** Values of the API that a form shows as they are, because commands and other programs have the same. */
const API_WORDS: ReadonlySet<string> = new Set([
  'smartrouting',
  'weighted',
  'random',
  'ha',
  'sticky',
  'default',
  'required',
  'failed',
]);

/**
 * Texts of a page in the pseudo-language with a word that is not of the catalogue. `data` are the answers of the API, as JSON:
 * their words are no texts of Frontdoor. Code is none either.
 */
export async function plainTexts(
  page: Page,
  data: () => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const texts = await page.evaluate<readonly string[]>(`(() => {
    const found = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      if (node.nodeType === Node.TEXT_NODE) {
        if (node.parentElement.closest('script, style, noscript, code, pre, .fd-mono, kbd, canvas') === null) found.push(node.data);
        continue;
      }
      for (const name of ['aria-label', 'title', 'placeholder', 'alt', 'label'])
        if (node.hasAttribute(name)) found.push(node.getAttribute(name));
    }
    return found.map((text) => text.trim()).filter((text) => text !== '');
  })()`);
  const known = (await data()).join('\n');
  const isPlain = (word: string): boolean =>
    !OF_INTL.test(word) && !API_WORDS.has(word) && !known.includes(word);
  return [...new Set(texts)].filter((text) => {
    let rest = text;
    for (let before = ''; before !== rest;) [before, rest] = [rest, rest.replaceAll(PSEUDO_TEXT, ' ')];
    return (rest.replaceAll(NO_LANGUAGE, ' ').match(/\p{L}+/gu) ?? []).some(isPlain);
  });
}
