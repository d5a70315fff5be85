/** Which environments may dial a private share. */
import { Checkbox, Stack, TextInput } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import type { ShareAnswer } from '#contract';
import { useAnswer, useChange } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { ChangedMeanwhile } from '../../parts/changed-meanwhile.tsx';
import { Form, useFieldError } from '../../parts/form.tsx';
import { Panel } from '../../parts/page-title.tsx';
import { partsText } from '../../parts/parts-text.ts';
import { isOutdated } from '../../parts/read-version.ts';
import { useText } from '../../text/language.tsx';
import { accessText } from './access-text.ts';

const MOST_SHOWN = 100;

interface Held {
  readonly chosen: readonly string[];
  readonly etag: string | undefined;
}

export function ShareGrants({
  share,
  etag,
}: {
  readonly share: ShareAnswer;
  readonly etag: string | undefined;
}): ReactNode {
  const [text, parts] = [useText(accessText), useText(partsText)];
  const frontdoorId = useFrontdoorId();
  const { may } = useSession();
  const [held, setHeld] = useState<Held>();
  const chosen = held?.chosen ?? share.grants;
  const change = useChange('changeShare', { refreshes: ['share'], onDone: () => setHeld(undefined) });
  const loadNew = () => {
    change.reset();
    setHeld(undefined);
  };
  return (
    <Panel title={text.privateTitle}>
      <p>{text.privateText}</p>
      {isOutdated(held, etag) && !change.isPending ? <ChangedMeanwhile onLoad={loadNew} /> : null}
      {may('changeShare') ? null : <p className="fd-soft">{parts.roleTooLow}</p>}
      <Form
        fields={['grants']}
        error={change.error}
        isPending={change.isPending}
        isDisabled={held === undefined || !may('changeShare')}
        submit={text.saveGrants}
        onStale={loadNew}
        onSubmit={() =>
          change.mutate({
            parameters: { frontdoorId, token: share.token },
            body: { grants: [...chosen] },
            ifMatch: held?.etag,
          })
        }
      >
        <GrantChoice
          value={chosen}
          isDisabled={!may('changeShare')}
          onChange={(ids) => setHeld({ chosen: ids, etag: held?.etag ?? etag })}
        />
      </Form>
      {change.isSuccess && held === undefined ? <p role="status">{text.saved}</p> : null}
    </Panel>
  );
}

/** Chosen environments that the list does not have are shown, too. */
function GrantChoice(props: {
  readonly value: readonly string[];
  readonly isDisabled: boolean;
  readonly onChange: (ids: readonly string[]) => void;
}): ReactNode {
  const text = useText(accessText);
  const { value, isDisabled, onChange } = props;
  const [name, setName] = useState('');
  const error = useFieldError('grants');
  const answer = useAnswer('listEnvironments', {
    parameters: { frontdoorId: useFrontdoorId() },
    query: { name: name.trim(), size: MOST_SHOWN, sort: 'name,asc' },
  });
  return (
    <>
      <TextInput
        type="search"
        label={text.grantsFind}
        value={name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
        mb="md"
      />
      <AnswerView answer={answer}>
        {({ body: { content } }) => {
          const known = new Set(content.map(({ id }) => id));
          const others = value.filter((id) => !known.has(id)).map((id) => ({ id, name: id }));
          return (
            <Checkbox.Group
              label={text.grants}
              description={value.length === 0 ? text.grantsNone : text.grantsHelp}
              error={error}
              value={[...value]}
              onChange={onChange}
            >
              <Stack gap="xs" mt="sm">
                {[...content, ...others].map((environment) => (
                  <Checkbox
                    key={environment.id}
                    value={environment.id}
                    label={environment.name}
                    disabled={isDisabled}
                  />
                ))}
              </Stack>
            </Checkbox.Group>
          );
        }}
      </AnswerView>
    </>
  );
}
