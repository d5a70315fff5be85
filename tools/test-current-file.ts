/** The test file that runs at the moment. */
export const currentFile: {
  /** Its path in a process that several files share; reporters name it. Undefined in the process of a single file. */
  name: string | undefined;
  /** No other file follows in this process. */
  isLast: boolean;
  /** Closes what files hold open for the next one, which is not taken for a trace of them. */
  closeHeld: (() => Promise<void>) | undefined;
} = { name: undefined, isLast: true, closeHeld: undefined };
