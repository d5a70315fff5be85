/** The rows of a conformance document, `| id | requirement | state | proof | missing |`, and proofs in any text. */

export interface Proof {
  readonly file: string;
  readonly name: string;
}

export interface ConformanceRow {
  readonly id: string;
  readonly requirement: string;
  readonly state: string;
  readonly proofs: readonly Proof[];
  /** The text in the proof column beside the proofs. */
  readonly unread: string;
  readonly missing: string;
}

/** Lines may break between words. */
const PROOF = /`([^`]+)`\s+›\s+"([^"]+)"/g;

/** Every test that a text names. */
export function parseProofs(text: string): Proof[] {
  return [...text.matchAll(PROOF)].map(([, file = '', name = '']) => ({
    file,
    name: name.replaceAll(/\s+/g, ' '),
  }));
}

export function parseConformance(text: string): ConformanceRow[] {
  const rows: ConformanceRow[] = [];
  for (const line of text.split('\n')) {
    if (!/^\| [A-Z]\d+ \|/.test(line)) continue;
    const cells = line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim());
    const [id = '', requirement = '', state = '', proof = '', missing = ''] = cells;
    rows.push({
      id,
      requirement,
      state,
      proofs: parseProofs(proof),
      unread: proof.replaceAll(PROOF, '').replaceAll('<br>', '').trim(),
      missing,
    });
  }
  return rows;
}
