/** How a terminator of a service is selected. The words are OpenZiti's. */
import { NativeSelect } from '@mantine/core';
import type { ReactNode } from 'react';
import type { FabricServiceAnswer } from '#contract/schemas';
import { useText } from '../../text/language.tsx';
import { meshText } from './mesh-text.ts';

export type Strategy = FabricServiceAnswer['terminatorStrategy'];

const STRATEGIES: readonly Strategy[] = ['smartrouting', 'weighted', 'random', 'ha'];

export function StrategyChoice(props: {
  readonly value: Strategy;
  readonly onChange: (value: Strategy) => void;
}): ReactNode {
  const text = useText(meshText);
  return (
    <NativeSelect
      mt="md"
      label={text.strategy}
      value={props.value}
      onChange={({ currentTarget }) => props.onChange(currentTarget.value as Strategy)}
      data={[...STRATEGIES]}
    />
  );
}
