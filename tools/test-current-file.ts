/**
 * The test file that runs at the moment in a process shared by several files; reporters name it. Undefined in
 * the process of a single file.
 */
export const currentFile: { name: string | undefined } = { name: undefined };
