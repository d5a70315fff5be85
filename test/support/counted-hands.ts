/** What a person does at a page of the console, by mouse and keyboard, counted. */
import type { Locator, Page } from 'playwright-core';

export interface HandCounts {
  /** Presses on a link, a button, a box, or an entry of a choice. */
  readonly clicks: number;
  /** Texts that are typed without a pause, and keys such as Enter or Ctrl-K. */
  readonly keys: number;
}

export class CountedHands implements HandCounts {
  clicks = 0;
  keys = 0;
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  async click(at: Locator): Promise<void> {
    this.clicks += 1;
    await at.click();
  }

  async link(name: string | RegExp): Promise<void> {
    await this.click(this.page.getByRole('main').getByRole('link', { name, exact: true }).first());
  }

  async button(name: string | RegExp): Promise<void> {
    await this.click(this.page.getByRole('main').getByRole('button', { name, exact: true }).first());
  }

  /** The button of the dialog, whose page may have another one of that name. */
  async confirm(name: string | RegExp): Promise<void> {
    await this.click(this.page.getByRole('dialog').getByRole('button', { name, exact: true }));
  }

  /** Ctrl-K, the text and Enter, without waiting for the search. */
  async find(text: string): Promise<void> {
    this.keys += 3;
    await this.page.keyboard.press('Control+k');
    await this.page.keyboard.type(text);
    await this.page.keyboard.press('Enter');
    await this.page.getByRole('dialog', { name: 'Search' }).waitFor({ state: 'detached' });
  }

  async navigate(name: string): Promise<void> {
    const navigation = this.page.getByRole('navigation', { name: 'Navigation' });
    await this.click(navigation.getByRole('link', { name, exact: true }));
  }

  async choose(label: string | RegExp, option: string): Promise<void> {
    this.clicks += 1;
    await this.page.getByRole('combobox', { name: label }).first().selectOption({ label: option });
  }

  async type(label: string | RegExp, text: string): Promise<void> {
    await this.typeInto(this.page.getByRole('textbox', { name: label, exact: true }).first(), text);
  }

  async typeInto(field: Locator, text: string): Promise<void> {
    this.keys += 1;
    await field.fill(text);
  }
}
