/** The fields of a terminator that can be set. */
import { NativeSelect, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import type { FabricTerminatorAnswer } from '#contract/schemas';
import { useFieldError } from '../../parts/form.tsx';
import { useText } from '../../text/language.tsx';
import { meshText } from './mesh-text.ts';

type Precedence = FabricTerminatorAnswer['precedence'];

export interface TypedTerminator {
  readonly address: string;
  readonly instanceId: string;
  readonly cost: string;
  readonly precedence: Precedence;
}

export const NO_FIELDS: TypedTerminator = { address: '', instanceId: '', cost: '0', precedence: 'default' };

const PRECEDENCES: readonly Precedence[] = ['default', 'required', 'failed'];

/** A cost that is no number is sent as it is, so that the API names the rule. */
export function terminatorBody({ cost, ...rest }: TypedTerminator) {
  return { ...rest, cost: Number(cost) };
}

export function TerminatorFields(props: {
  readonly fields: TypedTerminator;
  readonly onChange: (fields: TypedTerminator) => void;
}): ReactNode {
  const text = useText(meshText);
  const { fields, onChange } = props;
  return (
    <>
      <TextInput
        label={text.address}
        description={text.addressHint}
        value={fields.address}
        error={useFieldError('address')}
        onChange={({ currentTarget }) => onChange({ ...fields, address: currentTarget.value })}
      />
      <TextInput
        label={text.instance}
        value={fields.instanceId}
        error={useFieldError('instanceId')}
        onChange={({ currentTarget }) => onChange({ ...fields, instanceId: currentTarget.value })}
      />
      <TextInput
        label={text.cost}
        inputMode="numeric"
        value={fields.cost}
        error={useFieldError('cost')}
        onChange={({ currentTarget }) => onChange({ ...fields, cost: currentTarget.value })}
      />
      <NativeSelect
        label={text.precedence}
        value={fields.precedence}
        onChange={({ currentTarget }) =>
          onChange({ ...fields, precedence: currentTarget.value as Precedence })
        }
        data={[...PRECEDENCES]}
      />
    </>
  );
}
