/** What all parts of a release are made from. */

export interface Release {
  /** Where its files are written. */
  readonly folder: string;
  readonly version: string;
  /** The commit of this clone, in full. */
  readonly commit: string;
  /** The time of everything in it, in seconds since 1970: that of the commit. */
  readonly timeS: number;
  /** The bill of materials, as CycloneDX in JSON. */
  readonly bill: string;
}
