/** The sections of the configuration file, from the commands of the whole program. */
import {
  buildProgram,
  describedSections,
  processIo,
  type ConfigKey,
  type DescribedSection,
  type ProgramRunners,
} from '#cli';

const program = await buildProgram([], '0.0.0', processIo, {} as ProgramRunners);

export function programSections(): DescribedSection[] {
  return describedSections(program);
}

/** The default of an option as the command line has it; several texts for a list, and none without a default. */
export function defaultTexts({ option }: ConfigKey): readonly string[] {
  const { defaultValue, defaultValueDescription } = option;
  if (defaultValueDescription !== undefined) return [defaultValueDescription];
  const values: readonly unknown[] = Array.isArray(defaultValue) ? defaultValue : [defaultValue];
  return values.flatMap((value) =>
    typeof value === 'string' || typeof value === 'number' ? [String(value)] : [],
  );
}
