/**
 * The whole text of what a row shows shortened: of a cell under the pointer, and of all cells of a row in which the focus is. Escape
 * closes it. Screen readers have the whole text in the table, so it is hidden from them.
 */
import { Portal } from '@mantine/core';
import { useEffect, useState, type FocusEvent, type PointerEvent, type ReactNode } from 'react';

interface Tip {
  readonly left: number;
  readonly top: number;
  readonly isAbove: boolean;
  /** A title, which the cell under the pointer needs not, and the text. */
  readonly lines: readonly (readonly [title: string, text: string])[];
}

const CELL = '.fd-cell';
/** Parts of a cell that are shortened on their own. */
const CLIPPED = 'a, .fd-copy > .fd-mono, .mantine-Button-label';
/** A tip that would be lower stands above its row. */
const ROOM_PX = 160;

/** Around the table: its rows are not drawn again when a tip comes or goes. */
export function RowTips({ children }: { readonly children: ReactNode }): ReactNode {
  const [tip, setTip] = useState<Tip>();
  const hide = () => setTip(undefined);
  useEffect(() => {
    if (tip === undefined) return undefined;
    const onKey = ({ key }: KeyboardEvent) => {
      if (key === 'Escape') hide();
    };
    window.addEventListener('keydown', onKey);
    window.addEventListener('scroll', hide, { capture: true });
    return () => {
      window.removeEventListener('keydown', onKey);
      window.removeEventListener('scroll', hide, { capture: true });
    };
  }, [tip]);
  const onPointerOver = ({ target, pointerType }: PointerEvent<HTMLElement>) => {
    // The pointer may move onto the tip.
    if (pointerType === 'touch' || !(target instanceof Element) || target.closest('.fd-tip') !== null) return;
    const cell = target.closest<HTMLElement>(CELL);
    setTip(cell !== null && isShortened(cell) ? tipAt(cell, [['', textOf(cell)]]) : undefined);
  };
  const onFocus = ({ target }: FocusEvent<HTMLElement>) => {
    const row = target.closest<HTMLElement>('tbody tr');
    // A press of the pointer shows what is under it.
    if (row === null || !target.matches(':focus-visible')) return;
    const cells = [...row.querySelectorAll<HTMLElement>(CELL)].filter(isShortened);
    const lines = cells.map((cell) => [cell.dataset['title'] ?? '', textOf(cell)] as const);
    setTip(lines.length === 0 ? undefined : tipAt(row, lines));
  };
  return (
    <div
      className="fd-list"
      onPointerOver={onPointerOver}
      onPointerLeave={hide}
      onFocus={onFocus}
      onBlur={hide}
    >
      {children}
      {tip === undefined ? null : <TipBox tip={tip} />}
    </div>
  );
}

function TipBox({ tip: { left, top, isAbove, lines } }: { readonly tip: Tip }): ReactNode {
  return (
    <Portal>
      <div
        className="fd-tip"
        aria-hidden="true"
        style={{ left, top, ...(isAbove ? { transform: 'translateY(-100%)' } : {}) }}
      >
        {lines.map(([title, text], at) => (
          <div key={at}>
            {title === '' ? null : <strong>{title}: </strong>}
            {text}
          </div>
        ))}
      </div>
    </Portal>
  );
}

function tipAt(element: HTMLElement, lines: Tip['lines']): Tip {
  const { left, top, bottom } = element.getBoundingClientRect();
  const isAbove = window.innerHeight - bottom < ROOM_PX && top > ROOM_PX;
  return { left: Math.max(0, left), top: isAbove ? top : bottom, isAbove, lines };
}

/** Whether the cell, or a part of it that is shortened on its own, shows less than it has. */
function isShortened(cell: HTMLElement): boolean {
  return [cell, ...cell.querySelectorAll(CLIPPED)].some(
    ({ scrollWidth, clientWidth }) => scrollWidth > clientWidth,
  );
}

/** An address that is shown without its scheme is whole here. */
function textOf(cell: HTMLElement): string {
  const whole = cell.querySelector<HTMLElement>('[data-whole]')?.dataset['whole'];
  return whole ?? cell.innerText;
}
