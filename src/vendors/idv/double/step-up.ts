// The challenges and their correct answers. The questions are invented and the same for every person.

export const RIGHT_OTP_CODE = '123456';

export interface Question {
  readonly id: number;
  readonly text: string;
  readonly answers: readonly { readonly id: number; readonly text: string }[];
}

const ASKED: readonly (readonly [question: string, ...answers: string[]])[] = [
  [
    'Which of these streets have you lived on?',
    'Alder Street',
    'Birch Avenue',
    'Cedar Lane',
    'Dogwood Drive',
    'None of the above',
  ],
  [
    'Which of these companies gave you an auto loan?',
    'First Example Bank',
    'Second Example Bank',
    'Third Example Bank',
    'Fourth Example Bank',
    'None of the above',
  ],
  [
    'In which of these counties have you owned property?',
    'North County',
    'South County',
    'East County',
    'West County',
    'None of the above',
  ],
  [
    'Which of these phone numbers have you used?',
    'Ending in 01',
    'Ending in 02',
    'Ending in 03',
    'Ending in 04',
    'None of the above',
  ],
];

export const QUESTIONS: readonly Question[] = ASKED.map(([text, ...answers], index) => ({
  id: index + 1,
  text,
  answers: answers.map((answer, place) => ({ id: place + 1, text: answer })),
}));

export interface GivenAnswer {
  readonly questionId: number;
  readonly answerId: number;
}

/** Whether every question is answered once, with one of its answers. */
export function answersEveryQuestion(given: readonly GivenAnswer[]): boolean {
  return (
    given.length === QUESTIONS.length &&
    QUESTIONS.every((question) =>
      given.some(
        ({ questionId, answerId }) => questionId === question.id && question.answers.some(({ id }) => id === answerId),
      ),
    )
  );
}

/** The correct answers: the first of the first question, the second of the second, and so on. */
export function isRight(given: readonly GivenAnswer[]): boolean {
  return given.every(({ questionId, answerId }) => questionId === answerId);
}
