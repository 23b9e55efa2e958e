import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { reencodedLogo } from '../../../src/modules/accounts/application/logo.js';
import { logoType, logoUrl } from '../../../src/published/accounts.js';

const again = (svg: string): string => String(reencodedLogo(Buffer.from(svg)));
const ROOT = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 10" width="128" height="64">';
/** The written SVG around these parts. */
const whole = (inside: string): string => `${ROOT}${inside}</svg>`;
const inside = (parts: string): string => again(`<svg viewBox="0 0 20 10">${parts}</svg>`);

describe('an SVG logo', () => {
  it('keeps its shapes, groups, gradients, clip paths and colours', () => {
    const parts =
      '<defs><linearGradient id="a" x1="0" gradientUnits="userSpaceOnUse"><stop offset="50%" stop-color="#0f766e"/></linearGradient>' +
      '<radialGradient id="b" href="#a"/><clipPath id="c"><rect width="20" height="10"/></clipPath></defs>' +
      '<g clip-path="url(#c)" transform="translate(1, -2.5e1)"><path d="M0 0L1 1z" fill="url(#a)" fill-rule="evenodd"/></g>' +
      '<circle cx="5" cy="5" r="4" stroke="rgb(1, 2, 3)" stroke-width="2"/><polygon points="0,0 1,1"/>';
    expect(inside(parts)).toBe(whole(parts));
    expect(again(inside(parts))).toBe(inside(parts));
  });

  it('takes the attributes of a style, and the references of drawing programs inside the file', () => {
    expect(inside('<path style="fill: #fff; stroke:none;-inkscape-x:1" d="M0 0"/>')).toBe(
      whole('<path d="M0 0" fill="#fff" stroke="none"/>'),
    );
    expect(inside("<linearGradient xlink:href='#a'/><path/>")).toBe(whole('<linearGradient href="#a"/><path/>'));
  });

  it.each([
    ['<path style="fill:red" fill="blue"/>', '<path fill="red"/>'],
    ['<g color="#0f0"><path fill="currentColor"/></g>', '<g color="#0f0"><path fill="currentColor"/></g>'],
    ['<path style="FILL:red;mask:none;mix-blend-mode:normal;x-font:&quot;A, B&quot;"/>', '<path fill="red"/>'],
    ['<path id="Logo / Primary"/>', '<path/>'],
    [
      '<radialGradient id="p.0:2" href="#a:1.b"/><path fill="url(#p.0:2)"/>',
      '<radialGradient id="p.0:2" href="#a:1.b"/><path fill="url(#p.0:2)"/>',
    ],
    ['<path transform="rotate(45 1e1,-.5) scale(2)"/>', '<path transform="rotate(45 1e1,-.5) scale(2)"/>'],
  ])('looks as before when it is written again: %s', (parts, written) => {
    expect(inside(parts)).toBe(whole(written));
  });

  it.each([
    ['mask="url(#a)"', 'mask'],
    ['filter="blur(2px)"', 'filter'],
    ['transform-origin="5 5"', 'transform-origin'],
    ['vector-effect="non-scaling-stroke"', 'vector-effect'],
    ['style="mix-blend-mode:multiply"', 'mix-blend-mode'],
    ['style="-webkit-filter: blur(2px)"', 'filter'],
    ['style="mask-image:url(#a)"', 'mask-image'],
    ['style="transform:rotate(45deg)"', 'transform'],
    ['style="r:4"', 'r'],
    ['style="background:red"', 'background'],
    ['style="fill:var(--a)"', 'fill'],
    ['style="/*;fill:red;*/"', 'a style with an escape or a comment'],
    ['style="f\\69ll:red"', 'a style with an escape or a comment'],
    ['transform="rotate(45deg)"', 'transform'],
    ['transform="translate(1px, 2)"', 'transform'],
  ])('is refused when its picture would change without %s', (attribute, fault) => {
    expect(inside(`<path ${attribute}/>`)).toMatch(new RegExp(`^The SVG file of the logo has .*${fault}`));
  });

  it('is read in a time that grows with its length', () => {
    const letters = 'a'.repeat(60_000);
    expect(inside(`<path style="${letters}"/>`)).toBe(whole('<path/>'));
    expect(again(`<svg width="${'1'.repeat(60_000)}a"/>`)).toContain('must have a viewBox');
  });

  it('loses notes, comments, foreign attributes and everything before and after the picture', () => {
    const file = `\uFEFF<?xml version="1.0"?>
      <!-- Made by a program --><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">
      <svg xmlns="http://www.w3.org/2000/svg" xmlns:x="https://example.com/" version="1.1" class="logo" data-a="b" viewBox="0 0 20 10">
        <title>Elm &amp; Street</title><metadata><x:a href="https://example.com"><script>x()</script></x:a></metadata><x:view/>
        <rect width="20" height="10" class="a"/><!-- <script> -->
      </svg>
      <!-- The end -->`;
    expect(again(file)).toBe(whole('<rect width="20" height="10"/>'));
  });

  it.each([
    ['a viewBox', '<svg viewBox="0 0 20 10" width="100%"><path/></svg>', '0 0 20 10'],
    ['a viewBox with commas', '<svg viewBox="-1,-2, 20, 10"><path/></svg>', '-1 -2 20 10'],
    ['a width and a height', '<svg width="20px" height="10"><path/></svg>', '0 0 20 10'],
  ])('has one size in every browser when it has %s', (_, file, box) => {
    expect(again(file)).toBe(
      `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${box}" width="128" height="64"><path/></svg>`,
    );
  });

  it.each([
    ['<script>alert(1)</script>', 'the element script'],
    ['<script href="https://example.com/x.js"/>', 'the element script'],
    ['<style>@import url(https://example.com/x.css);</style>', 'the element style'],
    ['<foreignObject><p/></foreignObject>', 'the element foreignObject'],
    ['<image href="https://example.com/x.png"/>', 'the element image'],
    ['<image href="data:image/png;base64,AA=="/>', 'the element image'],
    ['<use href="#a"/>', 'the element use'],
    ['<a href="https://example.com"><path d="M0 0"/></a>', 'the element a;'],
    ['<animate attributeName="href" to="javascript:alert(1)"/>', 'the element animate'],
    ['<set attributeName="onload" to="alert(1)"/>', 'the element set'],
    ['<filter><feImage href="https://example.com"/></filter>', 'the element filter'],
    ['<SCRIPT>alert(1)</SCRIPT>', 'the element SCRIPT'],
    ['<path onclick="alert(1)"/>', 'the event attribute onclick'],
    ['<path ONLOAD="alert(1)"/>', 'the event attribute ONLOAD'],
    ['<linearGradient href="https://example.com/#a"/>', 'the reference href'],
    ['<linearGradient xlink:href="other.svg#a"/>', 'the reference xlink:href'],
    ['<path href="#a"/>', 'the reference href'],
    ['<path fill="url(https://example.com/#a)"/>', 'the attribute fill'],
    ['<path fill="url(other.svg#a)"/>', 'the attribute fill'],
    ['<path fill="URL(other.svg)"/>', 'the attribute fill'],
    ['<path style="fill:url(//example.com)"/>', 'the attribute fill'],
    ['<path fill="\\75rl(#a)"/>', 'the attribute fill'],
    ['<path fill="&#117;rl(#a)"/>', 'the attribute fill'],
    ['<text>Elm Street</text>', 'the element text'],
    ['Elm Street', 'has text'],
    ['<clipPath id="a"><g clip-path="url(#b)"/></clipPath>', 'a clip path inside a clip path'],
    ['<clipPath id="a" clip-path="url(#b)"/>', 'a clip path inside a clip path'],
    ['<svg:path d="M0 0"/>', 'the element svg:path'],
    ['<g xmlns:s="http://www.w3.org/2000/svg"><s:path d="M0 0"/></g>', 'the element s:path'],
    ['<title>Elm</title>', 'draws nothing'],
    ['<defs><path d="M0 0"/></defs>', 'draws nothing'],
    ['<svg viewBox="0 0 1 1"/>', 'one svg element'],
    ['<g>'.repeat(40) + '</g>'.repeat(40), 'more than 32 levels'],
    ['<g></path>', 'not a well-formed SVG'],
    ['<g', 'not a well-formed SVG'],
    ['<path d=M0/>', 'not a well-formed SVG'],
    ['<![CDATA[<script>alert(1)</script>]]>', 'not a well-formed SVG'],
    ['<?xml-stylesheet href="https://example.com/x.css"?>', 'not a well-formed SVG'],
    ['<!-- no end', 'not a well-formed SVG'],
  ])('is refused with its fault: %s', (parts, fault) => {
    expect(inside(parts)).toMatch(/^The SVG file of the logo /);
    expect(inside(parts)).toContain(fault);
  });

  it.each([
    ['<!DOCTYPE svg [<!ENTITY a "b">]><svg viewBox="0 0 1 1">&a;</svg>', 'not a well-formed SVG'],
    ['<html><script>alert(1)</script></html>', 'one svg element'],
    ['<svg viewBox="0 0 1 1"/><svg viewBox="0 0 1 1"/>', 'one svg element'],
    ['<svg viewBox="0 0 1 1"><g>', 'has no end'],
    ['<svg/>', 'must have a viewBox'],
    ['<svg viewBox="0 0 1"/>', 'must have a viewBox'],
    ['<svg viewBox="0 0 1 -1"/>', 'must have a viewBox'],
    ['<svg viewBox="0 0 1e308 1e308"/>', 'must have a viewBox'],
    ['<svg viewBox="0 0 1e39 1e39"/>', 'must have a viewBox'],
    ['<svg width="100%" height="10"/>', 'must have a viewBox'],
    ['<svg viewBox="0 0 1e9 1"/>', 'must not be 50 times as long as wide'],
  ])('is refused as a whole with its fault: %s', (file, fault) => {
    expect(again(file)).toMatch(/^The SVG file of the logo /);
    expect(again(file)).toContain(fault);
  });

  it('is refused when it is larger than 45,000 bytes after it is written again', () => {
    expect(inside(`<path d="${'M0 0'.repeat(12_000)}"/>`)).toMatch(/at most 45000 after it is written again/);
  });

  it('contains only accepted names and values, whatever the file contains', () => {
    const part = fc.constantFrom(
      ...[
        '<',
        '>',
        '/',
        '"',
        "'",
        '=',
        ' ',
        '&',
        'svg',
        'g',
        'path',
        'script',
        'x:a',
        'onload',
        'href',
        'fill',
        'style',
        'url(',
        ')',
        '#a',
        '!--',
      ],
      ...[
        '<g>',
        '</g>',
        '<path fill="red"/>',
        '<x:a>',
        '</x:a>',
        '<!--',
        '-->',
        '<![CDATA[',
        ']]>',
        'javascript:',
        'https://example.com',
      ],
    );
    const form = /^<svg(?: [\w-]+="[\w .,#%()+:/-]*")+>(?:<\/?(?:g|path)(?: [a-z-]+="[\w .,#%()+-]*")*\/?>)*<\/svg>$/;
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        const written = inside(`<g/>${parts.join('')}<path/>`);
        if (!written.startsWith('The SVG file of the logo ')) expect(written).toMatch(form);
      }),
      { numRuns: 2_000 },
    );
  });

  it('has the address of an SVG, and a PNG that of a PNG', () => {
    const svg = (reencodedLogo(Buffer.from('<svg viewBox="0 0 1 1"><path/></svg>')) as Buffer).toString('base64');
    expect([logoType(svg), logoUrl(svg)]).toEqual(['image/svg+xml', `data:image/svg+xml;base64,${svg}`]);
    const png = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1').toString('base64');
    expect([logoType(png), logoUrl(png)]).toEqual(['image/png', `data:image/png;base64,${png}`]);
  });
});
