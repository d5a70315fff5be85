/** Which environments may dial a private share. */
import { Checkbox, Stack, TextInput } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import type { ShareAnswer } from '#contract/schemas';
import { useAnswer, useChange } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { EditForm } from '../../parts/edit-form.tsx';
import { useFieldError } from '../../parts/form.tsx';
import { Panel } from '../../parts/page-title.tsx';
import { partsText } from '../../parts/parts-text.ts';
import { useEdit, type Editable } from '../../parts/use-edit.ts';
import { useText } from '../../text/language.tsx';
import { accessText } from './access-text.ts';

const MOST_SHOWN = 100;

export function ShareGrants(props: Editable<ShareAnswer>): ReactNode {
  const [text, parts] = [useText(accessText), useText(partsText)];
  const frontdoorId = useFrontdoorId();
  const { may } = useSession();
  const edit = useEdit({ ...props, draftOf: ({ grants }) => ({ grants }) });
  const { body: share, etag } = edit.base;
  const change = useChange('changeShare', { refreshes: ['share'], onDone: edit.saved });
  return (
    <Panel title={text.privateTitle}>
      <p>{text.privateText}</p>
      {may('changeShare') ? null : <p className="fd-soft">{parts.roleTooLow}</p>}
      <EditForm
        edit={edit}
        change={change}
        fields={['grants']}
        isDisabled={!may('changeShare')}
        submit={text.saveGrants}
        saved={text.saved}
        onSubmit={() =>
          change.mutate({
            parameters: { frontdoorId, token: share.token },
            body: { grants: [...edit.draft.grants] },
            ifMatch: etag,
          })
        }
      >
        <GrantChoice
          value={edit.draft.grants}
          isDisabled={!may('changeShare')}
          onChange={(ids) => edit.type({ grants: [...ids] })}
        />
      </EditForm>
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
