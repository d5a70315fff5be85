/** The search, which is loaded when it is first used: it indexes the texts that the build wrote beside it. */
import MiniSearch, { type SearchResult } from 'minisearch';
import type { FoundSection, SearchSection } from './search-section.ts';

const MAX_RESULTS = 12;
const EXCERPT_CHARACTERS = 140;

window.openFrontdoorSearch = (sections) => {
  const search = new MiniSearch<SearchSection & { id: number }>({
    fields: ['page', 'heading', 'text'],
    searchOptions: {
      boost: { page: 3, heading: 4 },
      prefix: true,
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
      combineWith: 'AND',
      boostDocument: (id) => sections[id as number]!.weight,
    },
  });
  search.addAll(sections.map((section, id) => Object.assign({ id }, section)));
  return (words) =>
    search
      .search(words)
      .slice(0, MAX_RESULTS)
      .map((result) => foundSection(sections, result));
};

function foundSection(sections: readonly SearchSection[], { id, terms }: SearchResult): FoundSection {
  const { page, heading, address, text } = sections[id as number]!;
  const lower = text.toLowerCase();
  const at = Math.min(...terms.map((term) => lower.indexOf(term)).filter((index) => index >= 0));
  const from = Number.isFinite(at) && at > 40 ? lower.lastIndexOf(' ', at - 30) + 1 : 0;
  const excerpt = text.slice(from, from + EXCERPT_CHARACTERS);
  const [before, after] = [from > 0 ? '…' : '', from + EXCERPT_CHARACTERS < text.length ? '…' : ''];
  return { page, heading, address, excerpt: `${before}${excerpt}${after}` };
}
