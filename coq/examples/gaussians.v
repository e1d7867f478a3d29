(* 20*Gaussian(10) + 5*Gaussian(8) + ZCDP('1/100')

   is (2.38809, 1e-5)-DP: at the order 8.9, by the improved conversion.
   Neighbours: of either relation.
   It rests on the theorems of papers that [published] in coq/Published.v lists, and on
   the axioms of Coq's real numbers and machine integers.
   Prove it with: make coq; coqc -w none -Q out/coq Symacct FILE *)

From Coq Require Import Reals Lra Lia List ZArith Permutation.
From Coquelicot Require Import Coquelicot.
From Symacct Require Import Evaluate.
Import ListNotations.
Open Scope R_scope.

Definition epsilon : R := (238809 / 100000).
Definition delta : R := (1 / 100000).
Definition alpha : R := (89 / 10).

Definition part_1 : mechanism := (Gaussian 10 1).
Definition cost_1 : R := (445001 / 10000000).

Lemma costs_1 : costs alpha part_1 cost_1.
Proof.
  unfold part_1, cost_1, alpha. cbn [costs]. evaluate 74%positive.
Qed.

Definition part_2 : mechanism := (Gaussian 8 1).
Definition cost_2 : R := (6953131 / 100000000).

Lemma costs_2 : costs alpha part_2 cost_2.
Proof.
  unfold part_2, cost_2, alpha. cbn [costs]. evaluate 74%positive.
Qed.

Definition part_3 : mechanism := (ZCDP (1 / 100) 0).
Definition cost_3 : R := (890001 / 10000000).

Lemma costs_3 : costs alpha part_3 cost_3.
Proof.
  unfold part_3, cost_3, alpha. cbn [costs]. evaluate 74%positive.
Qed.

Definition expression : mechanism :=
  (Compose (Times 20 part_1) (Compose (Times 5 part_2) part_3)).

(* Σ n ε(α) *)
Definition total : R := 20 * cost_1 + (5 * cost_2 + (cost_3)).

Theorem numerical : costs alpha expression total /\ total + improved alpha delta <= epsilon.
Proof.
  split.
  - exact (costs_compose _ _ _ _ _ (costs_times _ 20 _ _ costs_1) (costs_compose _ _ _ _ _ (costs_times _ 5 _ _ costs_2) costs_3)).
  - unfold total, cost_1, cost_2, cost_3, alpha, epsilon, delta. evaluate 74%positive.
Qed.

Theorem guarantee rdp dp : published rdp dp -> dp expression epsilon delta.
Proof.
  intro papers. destruct numerical as [spending enough].
  apply (real_improved rdp dp papers alpha expression total); try assumption.
  - unfold alpha. lra.
  - unfold delta. lra.
  - unfold expression, part_1, part_2, part_3. in_range.
Qed.
