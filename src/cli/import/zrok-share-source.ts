/** The file of variables that the service zrok-share reads, such as /opt/openziti/etc/zrok/zrok-share.env. */
import { parseEnv } from 'node:util';
import { FILE_START } from '#base/shapes';
import type { LocatedValues } from '#net/yaml-file';

const VARIABLE = /^[ \t]*(?:export[ \t]+)?(ZROK_[A-Z_]+)=/;

export function isZrokEnv(text: string): boolean {
  return text.split('\n').some((line) => VARIABLE.test(line));
}

/** Variables without a value are left out, as zrok takes them for unset. */
export function readZrokEnv(text: string): LocatedValues {
  const lines = new Map<string, number>();
  for (const [at, line] of text.split('\n').entries()) {
    const name = VARIABLE.exec(line)?.[1];
    if (name !== undefined) lines.set(name, at + 1);
  }
  const value = Object.fromEntries(
    Object.entries(parseEnv(text)).filter(([name, text]) => lines.has(name) && text !== ''),
  );
  return {
    value,
    positionOf: ([name = '']) => ({
      line: lines.get(name) ?? FILE_START.line,
      column: FILE_START.column,
    }),
  };
}
