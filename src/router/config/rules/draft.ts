/**
 * The input of rules over several fields: a file in which any value can be missing, because it was invalid or absent.
 */
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
  /** The tree as written. */
  readonly root: FileNode;
  readonly problems: ProblemList;
  /** The absolute path of the file. */
  readonly file: string;
  readonly exists: (path: string) => boolean;
}
