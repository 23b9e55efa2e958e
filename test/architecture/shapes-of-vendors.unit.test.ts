// docs/vendors holds one page about vendors without a folder. Its statements about the ports are compared with the ports.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';

const page = readFileSync('docs/vendors/shapes.md', 'utf8');
const wordsIn = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word);
const ports = page.split('\n## ')[0] ?? '';
const files = wordsIn(ports).filter((word) => word.endsWith('.ts'));

describe('the page about the shapes of vendors', () => {
  it('is the only page of its folder', () => {
    expect(readdirSync('docs/vendors')).toEqual(['shapes.md']);
  });

  it('names files of ports, and operations that the ports have', () => {
    expect(files.length).toBeGreaterThan(3);
    expect(files.filter((file) => !existsSync(`src/ports/${file}`))).toEqual([]);
    const text = files.map((file) => readFileSync(`src/ports/${file}`, 'utf8')).join('\n');
    const statements = page.split('\n').filter((line) => /^- Operations?\b|have defaults\.$/.test(line));
    const operations = statements.flatMap(wordsIn).filter((word) => /^[a-z]+(?:[A-Z][a-z]+)*$/.test(word));
    expect(operations).toContain('outcomeOf');
    expect(operations.filter((name) => !new RegExp(`^  (?:abstract )?(?:async )?${name}\\(`, 'm').test(text))).toEqual(
      [],
    );
  });
});
