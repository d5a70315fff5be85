/** Visits pages of the console inside the running program, without loading it again, and answers their calls of the API otherwise. */
import type { Page, Route } from 'playwright-core';

const API = '**/console/api/**';
/** Streams, and the session of the person, without which there is no page. */
const AS_THEY_ARE = /\/(changes|caller)$/;

/** Goes to a page by the router of the program, until it is drawn for the first time. */
export async function goTo(page: Page, path: string): Promise<void> {
  const href = `globalThis.__TSR_ROUTER__.basepath + ${JSON.stringify(path)}`;
  const drawn = '() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))';
  await page.evaluate(`globalThis.__TSR_ROUTER__.navigate({ href: ${href} }).then(${drawn})`);
}

/** Goes to a page, and waits until it waits for nothing more. */
export async function visitPage(page: Page, path: string): Promise<void> {
  await goTo(page, path);
  await page.locator('main h1, main [role=alert]').first().waitFor();
  const loaders = page.locator('main .mantine-Loader-root');
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
  ...['status', 'state', 'hop', 'cause', 'code', 'action', 'kind', 'outcome', 'role', 'precedence'],
  ...['terminatorStrategy', 'verdict', 'reason', 'rule', 'backendMode', 'resourceType', 'actorType'],
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

/** `[Šávé~~]`, and what is no language: numbers, times, sizes. */
const NO_PLAIN_TEXT = /^\[.*~\]$|^[^\p{L}]*$/su;

/**
 * Texts of a page in the pseudo-language that are not of the catalogue. `data` are the answers of the API, as JSON: what they
 * have is no text of ours. Code is none either.
 */
export async function plainTexts(page: Page, data: readonly string[]): Promise<readonly string[]> {
  const texts = await page.evaluate<readonly string[]>(`(() => {
    const found = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      if (node.nodeType === Node.TEXT_NODE) {
        if (node.parentElement.closest('script, style, code, pre, .fd-mono, kbd, time, canvas') === null) found.push(node.data);
        continue;
      }
      for (const name of ['aria-label', 'title', 'placeholder', 'alt', 'label'])
        if (node.hasAttribute(name)) found.push(node.getAttribute(name));
    }
    return found.map((text) => text.trim()).filter((text) => text !== '');
  })()`);
  const known = data.join('\n');
  return [...new Set(texts)].filter(
    (text) => !NO_PLAIN_TEXT.test(text) && !known.includes(JSON.stringify(text).slice(1, -1)),
  );
}
