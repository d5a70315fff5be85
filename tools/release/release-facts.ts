/** What all parts of a release are made from. */

export interface Release {
  /** Where its files are written. */
  readonly folder: string;
  readonly version: string;
  /** Modification time of all files in it, in seconds since 1970. */
  readonly timeS: number;
  /** The bill of materials, as CycloneDX in JSON. */
  readonly bill: string;
}
