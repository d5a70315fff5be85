/** A choice of auth providers of the frontdoor, by name. A chosen one that the list does not have is shown by its id. */
import { Checkbox, Input, Stack } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useAnswer } from '../../api/queries.ts';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { useFieldError } from '../../parts/form.tsx';
import { useFormat, useText } from '../../text/language.tsx';
import { providersText } from './providers-text.ts';
import { useTypeName } from './provider-types.tsx';

const MOST_SHOWN = 100;

export function useProviderEntries() {
  return useAnswer('listAuthProviders', {
    parameters: { frontdoorId: useFrontdoorId() },
    query: { size: MOST_SHOWN, sort: 'name,asc' },
  });
}

export function ProviderChoice(props: {
  readonly label: string;
  readonly description: string;
  readonly value: readonly string[];
  readonly isDisabled?: boolean;
  readonly onChange: (ids: readonly string[]) => void;
}): ReactNode {
  const [text, format] = [useText(providersText), useFormat()];
  const { value, onChange } = props;
  const frontdoorId = useFrontdoorId();
  const typeName = useTypeName();
  const error = useFieldError('authProviderIds');
  return (
    <AnswerView answer={useProviderEntries()}>
      {({ body: { content, totalElements } }) => {
        const known = new Set(content.map(({ id }) => id));
        const choices = [
          ...content.map(({ id, name, type, enabled }) => ({
            id,
            label: `${name} (${typeName(type)}${enabled ? '' : `, ${text.disabled}`})`,
          })),
          ...value.filter((id) => !known.has(id)).map((id) => ({ id, label: id })),
        ];
        return (
          <Checkbox.Group
            label={props.label}
            description={props.description}
            error={error}
            value={[...value]}
            onChange={onChange}
            mb="md"
          >
            <Stack gap="xs" mt="sm">
              {choices.map(({ id, label }) => (
                <Checkbox key={id} value={id} label={label} disabled={props.isDisabled === true} />
              ))}
            </Stack>
            {choices.length > 0 ? null : (
              <p className="fd-soft">
                {text.noneYet}{' '}
                <Link to="/frontdoors/$frontdoorId/providers/new" params={{ frontdoorId }}>
                  {text.newProvider}
                </Link>
              </p>
            )}
            {totalElements <= content.length ? null : (
              <Input.Description>{text.firstShown(format.number(content.length))}</Input.Description>
            )}
          </Checkbox.Group>
        );
      }}
    </AnswerView>
  );
}
