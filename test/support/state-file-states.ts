/** What can happen to a JSON file of a program between two starts: its content then, by the whole content; undefined for none. */
export const DAMAGED_STATES: Readonly<Record<string, (whole: string) => string | undefined>> = {
  missing: () => undefined,
  empty: () => '',
  half: (whole) => whole.slice(0, whole.length / 2),
  foreign: () => '{"name":"of another program","version":"1.0.0"}\n',
};
