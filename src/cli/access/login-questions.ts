/** The prompts of `frontdoor login`. Tests implement the same interface. */
import { definedFields, FrontdoorError } from '#base';

export interface Choice {
  readonly value: string;
  readonly label: string;
}

/** Each method throws `invalid` if the person cancels the prompt. */
export interface LoginQuestions {
  text(message: string, suggested?: string): Promise<string>;
  secret(message: string): Promise<string>;
  confirm(message: string): Promise<boolean>;
  choose(message: string, choices: readonly Choice[]): Promise<string>;
}

/** Prompts on the terminal over standard error, so that standard output has only the command's output. */
export async function openTerminalQuestions(): Promise<LoginQuestions> {
  // Loaded for the first prompt, because scripts never need it.
  const clack = await import('@clack/prompts');
  const output = process.stderr;
  const answered = <T>(value: T | typeof clack.CANCEL_SYMBOL): T => {
    if (value !== clack.CANCEL_SYMBOL) return value;
    throw new FrontdoorError('invalid', 'cancelled', 'nothing was changed: the prompt was cancelled');
  };
  const validate = (value: string | undefined): string | undefined =>
    value === undefined || value.trim() === '' ? 'An answer is needed' : undefined;
  return {
    text: async (message, suggested) =>
      answered(
        await clack.text(definedFields({ message, output, validate, initialValue: suggested })),
      ).trim(),
    secret: async (message) => answered(await clack.password({ message, output, validate })).trim(),
    confirm: async (message) => answered(await clack.confirm({ message, output })),
    choose: async (message, choices) =>
      answered(await clack.select({ message, output, options: choices.map((choice) => ({ ...choice })) })),
  };
}
