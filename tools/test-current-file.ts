/** The file that runs in a process of several, for those who report what happens to it; undefined in a process of one. */
export const currentFile: { name: string | undefined } = { name: undefined };
