/** What the build, the search and the pages exchange. */

/** A section of a page, as the build writes it for the search. */
export interface SearchSection {
  /** The title of the page. */
  readonly page: string;
  readonly heading: string;
  /** From the top of the site, with the anchor. */
  readonly address: string;
  readonly text: string;
  /** Pages of the index weigh 1, others less. */
  readonly weight: number;
}

export interface FoundSection {
  readonly page: string;
  readonly heading: string;
  readonly address: string;
  /** A part of its text, around the first word that was found. */
  readonly excerpt: string;
}

declare global {
  interface Window {
    /** What search.js defines. */
    openFrontdoorSearch?: (sections: readonly SearchSection[]) => (words: string) => FoundSection[];
    /** What search-data.js defines. */
    frontdoorSections?: readonly SearchSection[];
  }
}
