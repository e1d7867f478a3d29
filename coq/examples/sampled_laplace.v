(* 1000*PoissonSubsample(Laplace(1), '1/100')

   is (1.23, 1e-5)-DP: at the order 14.75, by the improved conversion.
   Neighbours: add_remove.
   It rests on the theorems of papers that [published] in coq/Published.v lists, and on
   the axioms of Coq's real numbers and machine integers.
   Prove it with: make coq; coqc -w none -Q out/coq Symacct FILE *)

From Coq Require Import Reals Lra Lia List ZArith Permutation.
From Coquelicot Require Import Coquelicot.
From Symacct Require Import Evaluate.
Import ListNotations.
Open Scope R_scope.

Definition epsilon : R := (123 / 100).
Definition delta : R := (1 / 100000).
Definition alpha : R := (59 / 4).

Definition part_1 : mechanism := (PoissonSubsample (Laplace 1 1) (1 / 100)).
Definition cost_1 : R := (329313 / 500000000).

Lemma inner_1 :
  RInt (between (1 / 1) (1 / 100) (59 / 4)) 0 (1 / 1) <= (19828409 / 62500000).
Proof.
  unfold between.
  integral with (i_prec 53, i_degree 10, i_fuel 10000, i_relwidth 31).
Qed.

Lemma costs_1 : costs alpha part_1 cost_1.
Proof.
  unfold part_1, cost_1, alpha. cbn [costs]. 
  eapply integral_at_most_le;
    [| apply laplace_integral with (inner := (19828409 / 62500000)); try lra; exact inner_1].
  evaluate 81%positive.
Qed.

Definition expression : mechanism :=
  (Times 1000 part_1).

(* Σ n ε(α) *)
Definition total : R := 1000 * cost_1.

Theorem numerical : costs alpha expression total /\ total + improved alpha delta <= epsilon.
Proof.
  split.
  - exact (costs_times _ 1000 _ _ costs_1).
  - unfold total, cost_1, alpha, epsilon, delta. evaluate 81%positive.
Qed.

Theorem guarantee rdp dp : published rdp dp -> dp expression epsilon delta.
Proof.
  intro papers. destruct numerical as [spending enough].
  apply (real_improved rdp dp papers alpha expression total); try assumption.
  - unfold alpha. lra.
  - unfold delta. lra.
  - unfold expression, part_1. in_range.
Qed.
