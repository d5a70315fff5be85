/** What every page of the site does besides showing its text: search, appearance, and the list of pages on narrow screens. */
import type { FoundSection } from './search-section.ts';

const siteTop = `${document.body.dataset['top'] ?? '.'}/`;
const one = <E extends Element>(selector: string): E => document.querySelector<E>(selector)!;

startAppearance(one('button.theme'));
startMenu(one('button.menu'), one('#pages'));
startSearch(one('.search'));
markCurrentHeading();
// The list of pages is longer than the window.
document.querySelector('#pages [aria-current]')?.scrollIntoView({ block: 'nearest' });

function startAppearance(button: HTMLButtonElement): void {
  const { documentElement } = document;
  const isDark = (): boolean => {
    const chosen = documentElement.dataset['appearance'];
    return chosen === undefined ? matchMedia('(prefers-color-scheme: dark)').matches : chosen === 'dark';
  };
  const label = (): void => {
    button.textContent = isDark() ? 'Light' : 'Dark';
    button.setAttribute('aria-label', `Use the ${isDark() ? 'light' : 'dark'} appearance`);
  };
  button.addEventListener('click', () => {
    const next = isDark() ? 'light' : 'dark';
    documentElement.dataset['appearance'] = next;
    try {
      localStorage.setItem('frontdoor-appearance', next);
    } catch {
      // Storage is off: the choice lasts for this page.
    }
    label();
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', label);
  label();
  button.hidden = false;
}

function startMenu(button: HTMLButtonElement, pages: HTMLElement): void {
  button.hidden = false;
  const show = (isOpen: boolean): void => {
    pages.classList.toggle('open', isOpen);
    button.setAttribute('aria-expanded', String(isOpen));
  };
  button.addEventListener('click', () => show(!pages.classList.contains('open')));
  pages.addEventListener('keydown', ({ key }) => {
    if (key !== 'Escape') return;
    show(false);
    button.focus();
  });
}

function startSearch(box: HTMLElement): void {
  const input = box.querySelector('input')!;
  const results = box.querySelector<HTMLElement>('.results')!;
  const [status, list] = [results.querySelector('p')!, results.querySelector('ul')!];
  let search: Promise<(words: string) => FoundSection[]> | undefined;
  const close = (): void => {
    results.hidden = true;
  };
  const show = async (): Promise<void> => {
    const words = input.value.trim();
    if (words === '') return close();
    search ??= loadSearch();
    const find = await search;
    // The input may have changed in the meantime, and has an event of its own then.
    if (words !== input.value.trim()) return;
    const found = find(words);
    status.textContent =
      found.length === 0
        ? `No page has “${words}”.`
        : `${found.length} result${found.length === 1 ? '' : 's'}`;
    list.replaceChildren(...found.map(resultItem));
    results.hidden = false;
  };
  box.hidden = false;
  input.addEventListener('focus', () => void (search ??= loadSearch()));
  input.addEventListener('input', () => void show());
  box.addEventListener('keydown', (event) => {
    const links = [input, ...list.querySelectorAll('a')];
    const at = links.indexOf(document.activeElement as HTMLInputElement);
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0 && !results.hidden) {
      event.preventDefault();
      links[Math.min(Math.max(at + step, 0), links.length - 1)]?.focus();
    } else if (event.key === 'Enter' && document.activeElement === input) list.querySelector('a')?.click();
    else if (event.key === 'Escape') {
      close();
      input.focus();
    }
  });
  document.addEventListener('click', ({ target }) => {
    if (!box.contains(target as Node)) close();
  });
  list.addEventListener('click', close);
  document.addEventListener('keydown', (event) => {
    const isTyping = document.activeElement instanceof HTMLInputElement;
    const isShortcut = event.key === 'k' && (event.ctrlKey || event.metaKey);
    if (!isShortcut && (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    input.focus();
    input.select();
  });
}

function resultItem({ page, heading, address, excerpt }: FoundSection): HTMLLIElement {
  const item = document.createElement('li');
  const link = document.createElement('a');
  link.href = siteTop + address;
  const title = document.createElement('strong');
  title.textContent = heading === '' ? page : `${page} › ${heading}`;
  const text = document.createElement('span');
  text.textContent = excerpt;
  link.append(title, text);
  item.append(link);
  return item;
}

/** By scripts, because a page that was opened from a folder may fetch nothing. */
async function loadSearch(): Promise<(words: string) => FoundSection[]> {
  await Promise.all(['assets/search.js', 'assets/search-data.js'].map(loadScript));
  return window.openFrontdoorSearch!(window.frontdoorSections!);
}

function loadScript(path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = siteTop + path;
    script.addEventListener('load', () => resolve());
    script.addEventListener('error', () => reject(new Error(`${path} was not loaded`)));
    document.head.append(script);
  });
}

/** Marks the heading that is read in the list beside the page. */
function markCurrentHeading(): void {
  const links = new Map(
    [...document.querySelectorAll<HTMLAnchorElement>('nav.contents a')].map((link) => [
      decodeURIComponent(link.hash.slice(1)),
      link,
    ]),
  );
  const headings = [...document.querySelectorAll('article [id]')].filter(({ id }) => links.has(id));
  if (headings.length === 0) return;
  const mark = (): void => {
    const passed = headings.filter((heading) => heading.getBoundingClientRect().top < 120);
    const current = (passed.at(-1) ?? headings[0]!).id;
    for (const [id, link] of links) link.classList.toggle('current', id === current);
    // The list of a page of the reference is longer than the window.
    links.get(current)!.scrollIntoView({ block: 'nearest' });
  };
  const observer = new IntersectionObserver(mark, { rootMargin: '-110px 0px -70% 0px' });
  for (const heading of headings) observer.observe(heading);
  mark();
}
