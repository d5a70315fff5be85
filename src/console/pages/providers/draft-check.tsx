/** A test of an auth provider before it is saved: whether the control plane reaches the issuer that the form has. */
import { Button, Group } from '@mantine/core';
import type { ReactNode } from 'react';
import type { BodyOf } from '#contract';
import type { ProviderDraftCheckAnswer } from '#contract/schemas';
import { useChange } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { useText } from '../../text/language.tsx';
import { Discovery } from './provider-check.tsx';
import { providersText } from './providers-text.ts';
import type { Values } from './schema-fields.ts';
import { mayHaveMetadata } from './type-facts.ts';

type ProviderType = NonNullable<BodyOf<'checkAuthProviderDraft'>>['type'];

export interface DraftCheckState {
  readonly error: Error | null;
  readonly isPending: boolean;
  readonly found: ProviderDraftCheckAnswer | undefined;
  check(data: Values): void;
  /** The result of a test does not hold for other values. */
  reset(): void;
}

export function useDraftCheck(type: string): DraftCheckState {
  const frontdoorId = useFrontdoorId();
  const { mutate, reset, data, error, isPending } = useChange('checkAuthProviderDraft');
  return {
    error,
    isPending,
    reset,
    found: data?.body,
    check: (draft) =>
      mutate({ parameters: { frontdoorId }, body: { type: type as ProviderType, data: draft } }),
  };
}

export function DraftCheck(props: {
  readonly type: string;
  readonly state: DraftCheckState;
  readonly onCheck: () => void;
}): ReactNode {
  const text = useText(providersText);
  const { may } = useSession();
  const { type, state } = props;
  if (!mayHaveMetadata(type) || !may('checkAuthProviderDraft')) return null;
  return (
    <Group mt="md" align="flex-start">
      <Button variant="default" loading={state.isPending} onClick={props.onCheck}>
        {text.checkDraft}
      </Button>
      <div role="status" className="fd-wrap">
        {state.found === undefined ? null : (
          <>
            <Discovery check={state.found} type={type} />
            <p className="fd-soft">{text.checkDraftOnly}</p>
          </>
        )}
      </div>
    </Group>
  );
}
