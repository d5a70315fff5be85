/** The value of an option that is a whole number within bounds. */
import { InvalidArgumentError } from 'commander';

/** @throws InvalidArgumentError that names the bounds. */
export function wholeNumber(text: string, min: number, max: number): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isInteger(value) && value >= min && value <= max) return value;
  throw new InvalidArgumentError(`must be a whole number from ${min} to ${max}.`);
}
