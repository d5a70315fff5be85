/** What rules over several fields work on: a file whose every value may be missing, because it was wrong or not there. */
import type { RouterFile } from '../schema/router-file-schema.ts';
import type { FileNode } from '../file-tree.ts';
import type { ProblemList } from '../problem-list.ts';

export type Draft<T> = T extends readonly (infer Item)[]
  ? readonly (Draft<Item> | undefined)[]
  : T extends object
    ? { readonly [K in keyof T]?: Draft<T[K]> | undefined }
    : T;

export interface RuleContext {
  readonly draft: Draft<RouterFile>;
  /** As it was written. */
  readonly root: FileNode;
  readonly problems: ProblemList;
  /** Absolute path of the file. */
  readonly file: string;
  readonly exists: (path: string) => boolean;
}
