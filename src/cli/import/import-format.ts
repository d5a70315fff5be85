/** One program whose files can be imported: a file of this folder, and a row in the table of `import-file.ts`. */
import type { ImportDraft } from './imported-share.ts';
import type { SourceTable } from './source-table.ts';

export interface ImportFormat {
  /** As people write it. */
  readonly product: string;
  /** Whether a file is of this program, by its keys at the top. */
  readonly isOf: (keys: ReadonlySet<string>) => boolean;
  /** Reports what it leaves out to the notes of the table. */
  readonly draftOf: (root: SourceTable) => ImportDraft;
}
